import { beforeAll, describe, expect, it } from '@jest/globals';
import { createCipher } from '../../../lib/shared/cipher.ts';
import { createApp } from '../../../lib/apps/manage-apps.ts';
import { findAffectedCustomers } from '../../../lib/statistics/rebuild-customer-summary.ts';
import { createAppRepository } from '../../../lib/db/app-repository.ts';
import { purchaseKey } from '../../../lib/db/keys.ts';
import { createPurchaseRepository } from '../../../lib/db/purchase-repository.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import { deps } from '../../../lib/deps.ts';
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
  return {
    apps: createAppRepository(seen, cipher),
    purchases: createPurchaseRepository(seen, cipher, deps().exchangeRates),
  };
};
type Container = ReturnType<typeof container>;

const bought = async ({ purchases }: Container, app: string, token: string, now = startDate) =>
  await purchases.recordPurchase(app, id, {
    trigger: 'validation',
    observed: { ...createObservation({}, { asOf: now }), refreshToken: { token } },
    claim: { username: 'ann', how: 'validation' },
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

const itemOf = async (app: string): Promise<Item> => (await table.get(purchaseKey(app, id))) ?? {};

describe('sealing again after a rotation', () => {
  it('puts every secret of an application under the first key, so that the others can go', async () => {
    const { appName: app, secretKey } = await givenSecrets(container('one'));
    const rotated = container('two one');
    expect(await rotated.apps.reencryptSecrets(app)).toBe(3);
    expect(await rotated.purchases.reencryptRefreshTokens(app)).toBe(1);
    const { apps, purchases } = container('two');
    expect(await apps.findWebhookSender(app)).toMatchObject({ secretKey, signingSecret: 'whsec_c2VjcmV0' });
    expect(await apps.findStoreSettings(app, 'store_a')).toEqual({ sharedSecret: 'shared' });
    expect(await purchases.findRefreshState(app, id)).toMatchObject({ refreshToken: { token: 'T' } });
    expect([await rotated.apps.reencryptSecrets(app), await rotated.purchases.reencryptRefreshTokens(app)]).toEqual([
      0, 0,
    ]);
  });

  it('is no change of the purchase to any worker of the stream', async () => {
    const { appName: app } = await givenSecrets(container('one'));
    const before = await itemOf(app);
    await container('two one').purchases.reencryptRefreshTokens(app);
    const after = await itemOf(app);
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
    const { appName: app } = await givenSecrets(container('one'));
    const late = {
      ...table,
      async update(update: Parameters<Table['update']>[0]) {
        await bought(container('one'), app, 'newer', startDate + dayMs);
        await table.update(update);
      },
    };
    const rotated = container('two one', late).purchases;
    expect(await rotated.reencryptRefreshTokens(app)).toBe(1);
    expect(await container('one').purchases.findRefreshState(app, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
    expect(await container('two one').purchases.reencryptRefreshTokens(app)).toBe(1);
    expect(await container('two').purchases.findRefreshState(app, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
  });
});
