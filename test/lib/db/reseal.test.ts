import { beforeAll, describe, expect, it } from '@jest/globals';
import { cipherOf } from '../../../lib/apps/cipher.ts';
import { createApp } from '../../../lib/apps/operator.ts';
import { concerned } from '../../../lib/counting/summarize.ts';
import { appsOf } from '../../../lib/db/apps.ts';
import { purchaseKey } from '../../../lib/db/keys.ts';
import { purchasesOf } from '../../../lib/db/purchases.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import { deps } from '../../../lib/deps.ts';
import { factOf } from '../../../lib/stats/facts.ts';
import { announcedBy } from '../../../lib/webhooks/announced.ts';
import { day, freshName, seenPurchase, start } from '../../support/given.ts';
import { streamRecord } from '../../support/stream-records.ts';
import { testTable } from '../../support/table.ts';

let table: Table;
beforeAll(async () => {
  table = await testTable();
});

const id = 'store_a:1';

/** A container whose master secret is this text. */
const container = (secret: string, seen = table) => {
  const cipher = cipherOf(async () => secret, Date.now);
  return { apps: appsOf(seen, cipher), purchases: purchasesOf(seen, cipher, deps().rates) };
};
type Container = ReturnType<typeof container>;

const bought = async ({ purchases }: Container, app: string, token: string, now = start) =>
  await purchases.record(app, id, {
    cause: 'validation',
    observed: { ...seenPurchase({}, { asOf: now }), refreshToken: { token } },
    claim: { username: 'ann', how: 'validation' },
    strategy: 'all',
    now,
  });

/** An application with one of each secret. */
async function givenSecrets(held: Container) {
  const keys = await createApp(held.apps, freshName(), start);
  await held.apps.setWebhook(keys.app, { urls: [], sandboxUrls: [], sendsPassword: true }, 'whsec_c2VjcmV0');
  await held.apps.setStoreSettings(keys.app, 'store_a', { sharedSecret: 'shared' });
  await bought(held, keys.app, 'T');
  return keys;
}

const itemOf = async (app: string): Promise<Item> => (await table.get(purchaseKey(app, id))) ?? {};

describe('sealing again after a rotation', () => {
  it('puts every secret of an application under the first key, so that the others can go', async () => {
    const { app, secretKey } = await givenSecrets(container('one'));
    const rotated = container('two one');
    expect(await rotated.apps.reseal(app)).toBe(3);
    expect(await rotated.purchases.reseal(app)).toBe(1);
    const { apps, purchases } = container('two');
    expect(await apps.webhookSender(app)).toMatchObject({ secretKey, signingSecret: 'whsec_c2VjcmV0' });
    expect(await apps.storeSettings(app, 'store_a')).toEqual({ sharedSecret: 'shared' });
    expect(await purchases.refreshable(app, id)).toMatchObject({ refreshToken: { token: 'T' } });
    expect([await rotated.apps.reseal(app), await rotated.purchases.reseal(app)]).toEqual([0, 0]);
  });

  it('is no change of the purchase to any worker of the stream', async () => {
    const { app } = await givenSecrets(container('one'));
    const before = await itemOf(app);
    await container('two one').purchases.reseal(app);
    const after = await itemOf(app);
    expect({ ...after, refreshToken: before.refreshToken }).toEqual(before);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    const record = streamRecord({ before, after }, 1);
    expect([announcedBy(record), factOf(record), concerned([record])]).toEqual([undefined, undefined, []]);
  });

  it('leaves what another writer has put there meanwhile, and finds it the next time', async () => {
    const { app } = await givenSecrets(container('one'));
    const late = {
      ...table,
      async update(update: Parameters<Table['update']>[0]) {
        await bought(container('one'), app, 'newer', start + day);
        await table.update(update);
      },
    };
    const rotated = container('two one', late).purchases;
    expect(await rotated.reseal(app)).toBe(1);
    expect(await container('one').purchases.refreshable(app, id)).toMatchObject({ refreshToken: { token: 'newer' } });
    expect(await container('two one').purchases.reseal(app)).toBe(1);
    expect(await container('two').purchases.refreshable(app, id)).toMatchObject({ refreshToken: { token: 'newer' } });
  });
});
