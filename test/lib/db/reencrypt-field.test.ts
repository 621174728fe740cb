import { beforeAll, describe, expect, it } from '@jest/globals';
import { deps } from '../../../composition/deps.ts';
import { createApp } from '../../../lib/apps/manage-apps.ts';
import { createAppRepository } from '../../../lib/db/app-repository.ts';
import { createPayerRepository } from '../../../lib/db/payer-repository.ts';
import { createPurchaseRepository } from '../../../lib/db/purchase-repository.ts';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { createRecordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { createCipher } from '../../../lib/shared/cipher.ts';
import { dayMs } from '../../../lib/shared/time.ts';
import { listCountsChanges } from '../../../lib/statistics/counts-change.ts';
import { findAffectedCustomers } from '../../../lib/statistics/rebuild-customer-summary.ts';
import { readStreamRecord } from '../../../lib/webhooks/purchase-announcements.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const id = 'store_a:1';

/** Creates the repositories of a container with the master secret. */
const createContainer = (secret: string, usedTable = table) => {
  const cipher = createCipher(async () => secret, Date.now);
  const purchases = createPurchaseRepository(usedTable, cipher);
  return {
    apps: createAppRepository(usedTable, cipher),
    purchases,
    recordPurchase: createRecordPurchase(
      purchases,
      deps().exchangeRates,
      async () => undefined,
      async () => [],
      createPayerRepository(table),
    ),
  };
};
type Container = ReturnType<typeof createContainer>;

const recordToken = async ({ recordPurchase }: Container, appName: string, token: string, now = startDate) =>
  await recordPurchase(appName, id, {
    trigger: 'validation',
    observation: { ...createObservation({}, { asOf: now }), refreshToken: { token } },
    claim: { username: 'ann', source: 'validation' },
    strategy: 'all',
    now,
  });

/** Creates an app with one secret of each kind. */
async function createSecrets(container: Container) {
  const keys = await createApp(container.apps, createUniqueName(), startDate);
  await container.apps.setWebhook(
    keys.appName,
    { urls: [], sandboxUrls: [], includesPassword: true },
    () => 'whsec_c2VjcmV0',
  );
  await container.apps.setStoreSettings(keys.appName, 'store_a', { sharedSecret: 'shared' });
  await recordToken(container, keys.appName, 'T');
  return keys;
}

const getPurchaseItem = async (appName: string): Promise<Item> => (await table.get(purchaseKey(appName, id))) ?? {};

describe('reencryptSecrets and reencryptRefreshTokens', () => {
  it('encrypt every secret under the current key, so that the old keys can be removed', async () => {
    const { appName, secretKey } = await createSecrets(createContainer('one'));
    const rotated = createContainer('two one');
    expect(await rotated.apps.reencryptSecrets(appName)).toBe(3);
    expect(await rotated.purchases.reencryptRefreshTokens(appName)).toBe(1);
    const { apps, purchases } = createContainer('two');
    expect(await apps.findWebhookSender(appName)).toMatchObject({ secretKey, signingSecret: 'whsec_c2VjcmV0' });
    expect(await apps.findStoreSettings(appName, 'store_a')).toEqual({ sharedSecret: 'shared' });
    expect(await purchases.findRefreshState(appName, id)).toMatchObject({ refreshToken: { token: 'T' } });
    expect([
      await rotated.apps.reencryptSecrets(appName),
      await rotated.purchases.reencryptRefreshTokens(appName),
    ]).toEqual([0, 0]);
  });

  it('change nothing that a stream worker processes', async () => {
    const { appName } = await createSecrets(createContainer('one'));
    const before = await getPurchaseItem(appName);
    await createContainer('two one').purchases.reencryptRefreshTokens(appName);
    const after = await getPurchaseItem(appName);
    expect({ ...after, refreshToken: before.refreshToken }).toEqual(before);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    const record = buildStreamRecord({ before, after }, 1);
    expect([readStreamRecord(record), listCountsChanges(record), findAffectedCustomers([record])]).toEqual([
      undefined,
      [],
      [],
    ]);
  });

  it('keep a value that a concurrent writer saves, and encrypt it in the next run', async () => {
    const { appName } = await createSecrets(createContainer('one'));
    const racedTable = {
      ...table,
      async update(update: Parameters<Table['update']>[0]) {
        await recordToken(createContainer('one'), appName, 'newer', startDate + dayMs);
        await table.update(update);
      },
    };
    const rotated = createContainer('two one', racedTable).purchases;
    expect(await rotated.reencryptRefreshTokens(appName)).toBe(1);
    expect(await createContainer('one').purchases.findRefreshState(appName, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
    expect(await createContainer('two one').purchases.reencryptRefreshTokens(appName)).toBe(1);
    expect(await createContainer('two').purchases.findRefreshState(appName, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
  });
});
