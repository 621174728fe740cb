import { randomBytes } from 'node:crypto';
import type { App } from '../lib/apps/app.ts';
import { give } from '../lib/credits/change-credits.ts';
import { saveCredits } from '../lib/credits/credit-table.ts';
import { mergeCustomers } from '../lib/customer-data/merge-customers.ts';
import { issueAccessToken } from '../lib/customers/access-token-table.ts';
import { saveMerge } from '../lib/customers/merge-table.ts';
import { getOrCreateVaultReference } from '../lib/customers/vault-reference-table.ts';
import { createGrantIfAbsent } from '../lib/entitlements/grant-table.ts';
import { createEventRecorder } from '../lib/events/event-recorder.ts';
import { saveEvent } from '../lib/events/event-table.ts';
import type { Service } from '../lib/foundation/service.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import { shareClaim } from '../lib/purchases/purchase-table.ts';
import { recordPurchase } from '../lib/purchases/record-purchase.ts';
import { withServiceConsumption } from '../lib/purchases/service-consumption.ts';
import { saveUserAliases } from '../lib/purchases/user-alias-table.ts';
import { toMd5Alias } from '../lib/purchases/user-aliases.ts';
import { saveRefundConsent } from '../lib/refunds/refund-request-table.ts';
import { buildDelivery } from '../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent } from '../lib/webhooks/delivery-table.ts';
import { createObservation, startDate } from './given.ts';
import { buildLinkInput, recordObservation } from './purchase-inputs.ts';

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
 * aliases, a shared claim, a grant, credits, a consent, a webhook delivery, events, an access token and a vault
 * reference.
 * `alias` is the customer's alias at the stores.
 */
export async function givenCustomer(
  service: Service,
  { name: appName }: Pick<App, 'name'>,
  { username, alias, companion }: { username: string; alias: string; companion: string },
): Promise<void> {
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
  for (const observation of owned) await recordObservation(service, appName, { username, observation });
  await saveUserAliases(service, appName, { username, obfuscatedUsername: alias, storeAliases: [alias] });
  await getOrCreateVaultReference(service, appName, 'vault-1');
  // Shared with a companion, and lost to the companion.
  for (const purchaseId of ['store_a:shared', 'store_a:lost']) {
    const observation = observe({ purchaseId }, [md5]);
    await recordObservation(service, appName, { username, observation });
    await recordObservation(service, appName, { username: companion, observation });
  }
  await recordPurchase(service, appName, 'store_a:lost', buildLinkInput(companion));
  const linked = observe({ purchaseId: 'store_a:linked' }, []);
  await recordObservation(service, appName, { username: companion, observation: linked });
  await recordPurchase(service, appName, 'store_a:linked', buildLinkInput(username));
  // Filed under the alias, because a notification came before every validation.
  await recordObservation(service, appName, { observation: observe({ purchaseId: 'store_a:unclaimed' }, [alias]) });
  await shareClaim(service, appName, 'store_a:other', { username, source: 'validation', now: startDate });
  await recordObservation(service, appName, { observation: observe({ purchaseId: 'store_a:other' }, []) });
  await saveRefundConsent(service, appName, username, startDate);
  await givenMerges(service, appName, { username, companion });
  await givenRecords(service, appName, username);
}

/** A customer who was merged into the one with all kinds of items. */
const mergedGuest = 'guest-of-the-first-day';

async function givenMerges(
  service: Service,
  appName: string,
  { username, companion }: { username: string; companion: string },
): Promise<void> {
  const key = { id: 'key', name: 'alice' } as const;
  const guestPurchase = observe({ purchaseId: 'store_a:guest' }, []);
  await recordObservation(service, appName, { username: mergedGuest, observation: guestPurchase });
  const gift = { credit: 'coins', amount: 5, idempotencyKey: 'gift', reason: 'a welcome' };
  await give(service, gift, { appName, username: mergedGuest, isSandbox: false, key });
  await mergeCustomers(service, { name: appName, strategy: 'all' }, { from: mergedGuest, to: username, key });
  const purchase = { purchaseId: 'store_a:owned', isSandbox: false, owner: username, payments: {}, version: 0 };
  await saveCredits(service, appName, { accounts: [], entries: [], purchase });
  // The log of a merge into the companion who owns nothing of it.
  const times = { startedAt: startDate, completedAt: startDate } as const;
  await saveMerge(service, appName, {
    mergeId: 'merge_1',
    from: username,
    to: companion,
    mergedBy: key,
    aliases: [],
    ...times,
  });
}

async function givenRecords(service: Service, appName: string, username: string): Promise<void> {
  const notification = { id: 'n1', reason: 'PURCHASED', date: startDate, purchaseId: 'store_a:owned' } as const;
  const url = 'https://server.example.com/hook';
  await createDeliveryIfAbsent(
    service,
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
  await issueAccessToken(service, appName, { platform: 'processor_a', session: 'cs_1', username }, startDate);
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
    // The table engine uses the clock of the machine to delete expired items.
    await saveEvent({ ...service, eventRetentionDays: 36_500 }, appName, event, raw);
  }
}
