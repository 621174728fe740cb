import { randomBytes } from 'node:crypto';
import type { App } from '../lib/apps/app.ts';
import { mergeCustomers } from '../lib/customer-data/merge-customers.ts';
import { createAccessTokenRepository } from '../lib/db/access-token-repository.ts';
import { createAppRepository } from '../lib/db/app-repository.ts';
import { createCustomerDataRepository } from '../lib/db/customer-data-repository.ts';
import { createCustomerRepository } from '../lib/db/customer-repository.ts';
import { createDeliveryRepository } from '../lib/db/delivery-repository.ts';
import { createErasedNameRepository } from '../lib/db/erased-name-repository.ts';
import { createEventRepository } from '../lib/db/event-repository.ts';
import { createMergeRepository } from '../lib/db/merge-repository.ts';
import { createPurchaseRepository } from '../lib/db/purchase-repository.ts';
import { createUserAliasRepository } from '../lib/db/user-alias-repository.ts';
import { createVaultReferenceRepository } from '../lib/db/vault-reference-repository.ts';
import { createGrantIfAbsent } from '../lib/entitlements/grant-table.ts';
import { createEventRecorder } from '../lib/events/event-recorder.ts';
import type { Table } from '../lib/foundation/table.ts';
import { omitErasedNames } from '../lib/purchases/erased-names.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import { withServiceConsumption } from '../lib/purchases/service-consumption.ts';
import { toMd5Alias } from '../lib/purchases/user-aliases.ts';
import { setRefundConsent } from '../lib/refunds/refund-request-table.ts';
import { buildDelivery } from '../lib/webhooks/delivery.ts';
import { createObservation, startDate, testCipher } from './given.ts';
import { buildLinkInput, buildValidationInput, createTestPurchases } from './purchase-repository.ts';

/** Dependencies of exporting and erasing a customer, over one table. The clock stands at `startDate`. */
export function createCustomerDataDeps(table: Table) {
  const apps = createAppRepository(table, testCipher);
  const erasedNames = createErasedNameRepository(table, testCipher, {
    findApp: apps.find,
    getOrCreateErasureKey: apps.getOrCreateErasureKey,
  });
  return {
    now: () => startDate,
    table,
    cipher: testCipher,
    apps,
    erasedNames,
    customers: createCustomerRepository(table),
    customerData: createCustomerDataRepository(table),
    merges: createMergeRepository(table),
    purchases: createPurchaseRepository(table, testCipher),
    vaultReferences: createVaultReferenceRepository(table),
    userAliases: createUserAliasRepository(table),
    events: createEventRepository(table, 36_500, () => startDate),
    deliveries: createDeliveryRepository(table),
    accessTokens: createAccessTokenRepository(table),
    recordPurchase: omitErasedNames(createTestPurchases(table).recordPurchase, erasedNames),
  };
}
type CustomerDataDeps = ReturnType<typeof createCustomerDataDeps>;

/** A StoreID key whose claims name a user. */
const createStoreIdKey = (userId: string): string =>
  ['header', JSON.stringify({ 'claims/key/userId': userId }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

const observe = (
  purchase: Partial<Purchase>,
  userAliases: readonly string[],
  refreshToken?: Record<string, string>,
) => ({
  ...createObservation({ transactionId: purchase.purchaseId ?? '', ...purchase }, { userAliases }),
  ...(refreshToken && { refreshToken }),
});

/**
 * Stores a customer in every kind of item that can name one: owned, shared, linked, lost and unclaimed purchases,
 * aliases, a shared claim, a grant, a consent, a webhook delivery, events, an access token and a vault reference.
 * `alias` is the customer's alias at the stores.
 */
export async function givenCustomer(
  { name: appName }: Pick<App, 'name'>,
  { username, alias, companion }: { username: string; alias: string; companion: string },
  deps: CustomerDataDeps,
): Promise<void> {
  const { recordPurchase, purchases, userAliases, vaultReferences } = deps;
  const md5 = toMd5Alias(username);
  const consumable = withServiceConsumption(
    observe({ purchaseId: 'store_b:consumable', productType: 'consumable', isConsumed: true }, []).purchase,
    username,
    startDate,
  );
  const owned = [
    observe({ purchaseId: 'store_a:owned' }, [alias, md5], { originalTransactionId: '1' }),
    observe({ purchaseId: 'store_c:owned', platform: 'store_c' }, [alias], { purchaseKey: createStoreIdKey(alias) }),
    observe({ purchaseId: 'processor_b:owned', platform: 'processor_b' }, [], {
      transaction: 'tx',
      customerId: 'vault-1',
    }),
    { ...createObservation(consumable), purchase: consumable },
  ];
  for (const observation of owned)
    await recordPurchase(appName, observation.purchase.purchaseId, buildValidationInput(username, observation));
  await userAliases.saveAliases(appName, { username, obfuscatedUsername: alias, storeAliases: [alias] });
  await vaultReferences.getOrCreate(appName, 'vault-1');
  // Shared with a companion, and lost to the companion.
  for (const purchaseId of ['store_a:shared', 'store_a:lost']) {
    const observation = observe({ purchaseId }, [md5]);
    await recordPurchase(appName, purchaseId, buildValidationInput(username, observation));
    await recordPurchase(appName, purchaseId, buildValidationInput(companion, observation));
  }
  await recordPurchase(appName, 'store_a:lost', buildLinkInput(companion));
  const linked = observe({ purchaseId: 'store_a:linked' }, []);
  await recordPurchase(appName, 'store_a:linked', buildValidationInput(companion, linked));
  await recordPurchase(appName, 'store_a:linked', buildLinkInput(username));
  // Filed under the alias, because a notification came before every validation.
  await recordPurchase(
    appName,
    'store_a:unclaimed',
    buildValidationInput(undefined, observe({ purchaseId: 'store_a:unclaimed' }, [alias])),
  );
  await purchases.shareClaim(appName, 'store_a:other', { username, source: 'validation' }, startDate);
  await recordPurchase(
    appName,
    'store_a:other',
    buildValidationInput(undefined, observe({ purchaseId: 'store_a:other' }, [])),
  );
  await setRefundConsent(deps, appName, username, startDate);
  await givenMerges(appName, { username, companion }, deps);
  await givenRecords(appName, username, deps);
}

/** A customer who was merged into the one with all kinds of items. */
const mergedGuest = 'guest-of-the-first-day';

async function givenMerges(
  appName: string,
  { username, companion }: { username: string; companion: string },
  deps: CustomerDataDeps,
): Promise<void> {
  const key = { id: 'key', name: 'alice' } as const;
  const guestPurchase = observe({ purchaseId: 'store_a:guest' }, []);
  await deps.recordPurchase(appName, 'store_a:guest', buildValidationInput(mergedGuest, guestPurchase));
  await mergeCustomers({ name: appName, strategy: 'all' }, { from: mergedGuest, to: username, key }, deps);
  // The log of a merge into the companion who owns nothing of it.
  const times = { startedAt: startDate, completedAt: startDate } as const;
  await deps.merges.save(appName, {
    mergeId: 'merge_1',
    from: username,
    to: companion,
    mergedBy: key,
    aliases: [],
    ...times,
  });
}

async function givenRecords(
  appName: string,
  username: string,
  { deliveries, accessTokens, events, ...service }: CustomerDataDeps,
): Promise<void> {
  const notification = { id: 'n1', reason: 'PURCHASED', date: startDate, purchaseId: 'store_a:owned' } as const;
  const url = 'https://server.example.com/hook';
  await deliveries.createIfAbsent(
    buildDelivery({ appName, type: 'purchases.updated', url, username, notification, createdAt: startDate }),
  );
  await createGrantIfAbsent(service, appName, {
    grantId: 'grant_1',
    username,
    entitlement: 'premium',
    reason: 'lost phone',
    createdAt: startDate,
    createdBy: { id: 'key', name: 'alice' },
    version: 1,
  });
  await accessTokens.issue(appName, { platform: 'processor_a', session: 'cs_1', username }, startDate);
  // One event is too large for one item.
  for (const text of ['', 'large']) {
    const recorder = createEventRecorder({ type: 'receipt.validated', date: startDate });
    recorder.setUser(username);
    recorder.addContent({
      claims: [{ applicationUsername: username, purchaseId: 'store_a:owned', type: 'validation' }],
    });
    const { event, raw } = recorder.finish({
      request: {
        route: '/v1/validate',
        body: {
          applicationUsername: username,
          products: Array.from({ length: 20 }, () => ({
            title: text && randomBytes(240).toString('base64').replace(/.{20}/g, '$& '),
          })),
        },
      },
      outcome: { status: 200, ok: true },
      response: { applicationUsername: username },
    });
    await events.save(appName, event, raw);
  }
}
