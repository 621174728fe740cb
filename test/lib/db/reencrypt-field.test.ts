import { beforeAll, describe, expect, it } from '@jest/globals';
import { createApp } from '../../../lib/apps/manage-apps.ts';
import { createAppRepository } from '../../../lib/db/app-repository.ts';
import { purchaseKey } from '../../../lib/db/keys.ts';
import { createPurchaseRepository } from '../../../lib/db/purchase-repository.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import { deps } from '../../../lib/deps.ts';
import { createRecordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { createCipher } from '../../../lib/shared/cipher.ts';
import { findAffectedCustomers } from '../../../lib/statistics/rebuild-customer-summary.ts';
import { toTallyChange } from '../../../lib/statistics/tally-change.ts';
import { readStreamRecord } from '../../../lib/webhooks/purchase-announcements.ts';
import { createObservation, createUniqueName, dayMs, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const id = 'store_a:1';

/** A container whose master secret is this text. */
const container = (secret: string, seen = table) => {
  const cipher = createCipher(async () => secret, Date.now);
  const purchases = createPurchaseRepository(seen, cipher);
  return {
    apps: createAppRepository(seen, cipher),
    purchases,
    recordPurchase: createRecordPurchase(purchases, deps().exchangeRates),
  };
};
type Container = ReturnType<typeof container>;

const bought = async ({ recordPurchase }: Container, appName: string, token: string, now = startDate) =>
  await recordPurchase(appName, id, {
    trigger: 'validation',
    observation: { ...createObservation({}, { asOf: now }), refreshToken: { token } },
    claim: { username: 'ann', source: 'validation' },
    strategy: 'all',
    now,
  });

/** An application with one of each secret. */
async function givenSecrets(held: Container) {
  const keys = await createApp(held.apps, createUniqueName(), startDate);
  await held.apps.setWebhook(keys.appName, { urls: [], sandboxUrls: [], includesPassword: true }, 'whsec_c2VjcmV0');
  await held.apps.setStoreSettings(keys.appName, 'store_a', { sharedSecret: 'shared' });
  await bought(held, keys.appName, 'T');
  return keys;
}

const itemOf = async (appName: string): Promise<Item> => (await table.get(purchaseKey(appName, id))) ?? {};

describe('sealing again after a rotation', () => {
  it('puts every secret of an application under the first key, so that the others can go', async () => {
    const { appName, secretKey } = await givenSecrets(container('one'));
    const rotated = container('two one');
    expect(await rotated.apps.reencryptSecrets(appName)).toBe(3);
    expect(await rotated.purchases.reencryptRefreshTokens(appName)).toBe(1);
    const { apps, purchases } = container('two');
    expect(await apps.findWebhookSender(appName)).toMatchObject({ secretKey, signingSecret: 'whsec_c2VjcmV0' });
    expect(await apps.findStoreSettings(appName, 'store_a')).toEqual({ sharedSecret: 'shared' });
    expect(await purchases.findRefreshState(appName, id)).toMatchObject({ refreshToken: { token: 'T' } });
    expect([
      await rotated.apps.reencryptSecrets(appName),
      await rotated.purchases.reencryptRefreshTokens(appName),
    ]).toEqual([0, 0]);
  });

  it('is no change of the purchase to any worker of the stream', async () => {
    const { appName } = await givenSecrets(container('one'));
    const before = await itemOf(appName);
    await container('two one').purchases.reencryptRefreshTokens(appName);
    const after = await itemOf(appName);
    expect({ ...after, refreshToken: before.refreshToken }).toEqual(before);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    const record = buildStreamRecord({ before, after }, 1);
    expect([readStreamRecord(record), toTallyChange(record), findAffectedCustomers([record])]).toEqual([
      undefined,
      undefined,
      [],
    ]);
  });

  it('leaves what another writer has put there meanwhile, and finds it the next time', async () => {
    const { appName } = await givenSecrets(container('one'));
    const late = {
      ...table,
      async update(update: Parameters<Table['update']>[0]) {
        await bought(container('one'), appName, 'newer', startDate + dayMs);
        await table.update(update);
      },
    };
    const rotated = container('two one', late).purchases;
    expect(await rotated.reencryptRefreshTokens(appName)).toBe(1);
    expect(await container('one').purchases.findRefreshState(appName, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
    expect(await container('two one').purchases.reencryptRefreshTokens(appName)).toBe(1);
    expect(await container('two').purchases.findRefreshState(appName, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
  });
});
