import { describe, expect, it } from '@jest/globals';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { exportCustomer } from '../../../lib/customer-data/export-customer.ts';
import { saveUserAliases } from '../../../lib/purchases/user-alias-table.ts';
import { toMd5Alias } from '../../../lib/purchases/user-aliases.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createUniqueName } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import type { NamingItemType } from '../../../testing/item-types.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

/** The member of the document that has the data of each type of item. Absent if the type has no data of its own. */
const exportedMembers: Readonly<Record<NamingItemType, string | undefined>> = {
  purchaseKey: 'purchases',
  claimKey: 'purchases',
  sharedClaimKey: 'purchases',
  purchaseCreditsKey: 'creditHistory',
  customerKey: 'customer',
  nameWordKey: undefined,
  ownedPurchaseKey: 'purchases',
  ownedTransactionKey: 'purchases',
  rankKey: 'purchases',
  grantKey: 'grants',
  mergeKey: 'merges',
  movedClaimKey: 'merges',
  creditAccountKey: 'credits',
  creditEntryKey: 'creditHistory',
  creditMoveKey: 'creditHistory',
  refundConsentKey: 'refundConsentedAt',
  aliasKey: 'userAliases',
  unclaimedKey: 'unclaimedPurchases',
  accessTokenKey: 'accessTokens',
  erasedNameKey: undefined,
  deliveryKey: 'webhookDeliveries',
  eventItemKey: 'events',
  rawEventItemKey: 'events',
  tagKey: undefined,
};

/** Exports a customer who is in every kind of item. */
async function exportStored(username: string, requested = username) {
  const service = createService(await createTestTable());
  const app = await getApp(service, (await givenApp(await createTestTable())).appName);
  await givenCustomer(service, app, { username, alias: 'alias-at-the-store', companion: 'companion@example.com' });
  let text = '';
  let isEmpty = false;
  const onEmpty = (): void => {
    isEmpty = true;
  };
  for await (const chunk of exportCustomer(service, app, requested, { onEmpty })) text += chunk;
  return { text, document: JSON.parse(text), isEmpty };
}

const isEmptyMember = (data: unknown): boolean => data === null || (Array.isArray(data) && data.length === 0);

describe('exportCustomer', () => {
  it('exports owned, lost and unclaimed purchases, aliases, access tokens, deliveries and events', async () => {
    const { document, isEmpty } = await exportStored(createUniqueName('user'));
    expect(isEmpty).toBe(false);
    const ids = document.purchases.map(({ purchaseId }: { purchaseId: string }) => purchaseId);
    expect(ids.sort()).toEqual([
      'processor_b:owned',
      'store_a:guest',
      'store_a:linked',
      'store_a:lost',
      'store_a:owned',
      'store_a:shared',
      'store_b:consumable',
      'store_c:owned',
    ]);
    expect(document).toMatchObject({
      customer: { createdAt: '2026-01-01T00:00:00.000Z' },
      userAliases: expect.arrayContaining(['alias-at-the-store']),
      refundConsentedAt: expect.any(String),
      unclaimedPurchases: [{ purchaseId: 'store_a:unclaimed' }],
      grants: [{ grantId: 'grant_1', entitlement: 'premium', reason: 'lost phone', until: null }],
      merges: [{ from: 'guest-of-the-first-day', mergedBy: { name: 'alice' } }],
      accessTokens: [{ platform: 'processor_a', session: 'cs_1', expiresAt: '2026-01-31T00:00:00.000Z' }],
      webhookDeliveries: [{ state: 'pending', notification: { purchaseId: 'store_a:owned' } }],
      events: Array.from({ length: 2 }, () => ({ type: 'receipt.validated', raw: {} })),
    });
    expect(document.purchases).toContainEqual(
      expect.objectContaining({
        purchaseId: 'processor_b:owned',
        isEntitled: true,
        processorCustomer: expect.objectContaining({ id: 'vault-1' }),
        transactions: [expect.objectContaining({ amountMicros: 4_990_000 })],
      }),
    );
    expect(document.purchases).toContainEqual(
      expect.objectContaining({ purchaseId: 'store_a:lost', isEntitled: false }),
    );
  });

  it('exports the data of each type of item that names a customer', async () => {
    const { document } = await exportStored(createUniqueName('user'));
    const { app: _app, applicationUsername: _username, exportedAt: _exportedAt, ...members } = document;
    const filled = Object.entries(members).flatMap(([name, data]) => (isEmptyMember(data) ? [] : [name]));
    expect(filled.sort()).toEqual([...new Set(Object.values(exportedMembers))].filter(Boolean).sort());
  });

  it('leaves out secrets and other customers', async () => {
    const { text, document } = await exportStored(createUniqueName('user'));
    expect(text).not.toMatch(/companion|refreshToken|purchaseKey|whsec|server\.example\.com\/hook/);
    const { vaultReference } = document.purchases.find(
      (row: { platform: string }) => row.platform === 'processor_b',
    ).processorCustomer;
    expect(vaultReference).toMatch(/^[0-9a-f]{8}…$/);
  });

  it('exports an empty document for an unknown user', async () => {
    const { document, isEmpty } = await exportStored(createUniqueName('user'), 'unknown');
    expect(isEmpty).toBe(true);
    expect(document).toMatchObject({
      customer: null,
      userAliases: [],
      refundConsentedAt: null,
      purchases: [],
      webhookDeliveries: [],
      events: [],
    });
  });

  it('leaves out purchases that wait under an alias of two customers', async () => {
    const service = createService(await createTestTable());
    const app = await getApp(service, (await givenApp(await createTestTable())).appName);
    for (const username of ['ann', 'bob'])
      await saveUserAliases(service, app.name, {
        username,
        obfuscatedUsername: 'shared',
        storeAliases: ['shared'],
      });
    for (const alias of ['shared', toMd5Alias('ann')]) {
      const purchaseId = `store_a:${alias}`;
      const observation = createObservation({ purchaseId }, { userAliases: [alias] });
      await recordObservation(service, app.name, { observation });
    }
    let text = '';
    for await (const chunk of exportCustomer(service, app, 'ann')) text += chunk;
    expect(JSON.parse(text).unclaimedPurchases).toMatchObject([{ purchaseId: `store_a:${toMd5Alias('ann')}` }]);
  });
});
