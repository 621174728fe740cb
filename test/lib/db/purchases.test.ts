import { beforeAll, describe, expect, it } from '@jest/globals';
import { dayRatesOf } from '../../../lib/db/day-rates.ts';
import { purchasePartition } from '../../../lib/db/keys.ts';
import { type Happened, type Purchases, purchasesOf } from '../../../lib/db/purchases.ts';
import type { Table } from '../../../lib/db/table.ts';
import { transactionsOf } from '../../../lib/db/transactions.ts';
import { cachedRates } from '../../../lib/exchange-rates/cached-rates.ts';
import type { Observation } from '../../../lib/purchases/observation.ts';
import { day, freshName, paid, seenPurchase, start, testCipher } from '../../support/given.ts';
import { testTable } from '../../support/table.ts';

let table: Table;
let purchases: Purchases;
beforeAll(async () => {
  table = await testTable();
  purchases = purchasesOf(
    table,
    testCipher,
    cachedRates(dayRatesOf(table), () => start),
  );
});

const id = 'store_a:1';
const seen = (username?: string, observed: Observation = seenPurchase()): Happened => ({
  cause: 'validation',
  observed,
  ...(username && { claim: { username, how: 'validation' } }),
  strategy: 'all',
  now: start,
});
const linked = (username: string): Happened => ({
  cause: 'link',
  claim: { username, how: 'manual' },
  strategy: 'all',
  now: start + day,
});
const renewal = (number: number) => {
  const at = start + number * 31 * day;
  const { purchase } = seenPurchase({
    transactionId: `store_a:${number}`,
    lastRenewalDate: at,
    expirationDate: at + 31 * day,
  });
  return { asOf: at, purchase, transactions: [paid(purchase)], userTokens: [] };
};

describe('purchases in the table', () => {
  it('can be read back at once by id and by owner', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann'));
    expect(await purchases.find(app, id)).toMatchObject({
      purchase: { productId: 'store_a:monthly' },
      entitledUsers: ['ann'],
    });
    expect(await purchases.ownedBy(app, 'ann')).toMatchObject([{ purchaseId: id, amountMicros: 4_990_000 }]);
    expect(await purchases.notificationsOf(app, id)).toMatchObject([{ reason: 'PURCHASED' }]);
  });

  it('lose nothing when many writers race on one purchase', async () => {
    const app = freshName();
    const users = ['ann', 'bob', 'cy', 'dee'];
    const races = users.flatMap((username, index) => [
      purchases.record(app, id, seen(username)),
      purchases.record(app, id, seen(undefined, renewal(index + 1))),
    ]);
    await Promise.all(races);
    const stored = await purchases.find(app, id);
    expect([...(stored?.entitledUsers ?? [])].sort()).toEqual(users);
    expect(stored?.purchase.transactionId).toBe('store_a:4');
    const ids = (await purchases.transactionsOf(app, [id])).map(({ transactionId }) => transactionId);
    expect(ids.sort()).toEqual(['store_a:1', 'store_a:2', 'store_a:3', 'store_a:4']);
    for (const username of users) expect(await purchases.ownedBy(app, username)).toHaveLength(1);
  });

  it('write nothing when the same receipt is seen again', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann'));
    const before = table.consumed.write;
    const again = await purchases.record(app, id, seen('ann'));
    expect(again?.change).toBeUndefined();
    expect(table.consumed.write).toBe(before);
  });

  it('move with a manual link to its user alone, and a later validation changes that not', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann'));
    const moved = await purchases.record(app, id, linked('bob'));
    expect(moved?.change).toMatchObject({ gained: ['bob'], lost: ['ann'] });
    await purchases.record(app, id, seen('ann', renewal(2)));
    expect(await purchases.ownedBy(app, 'ann')).toEqual([]);
    expect(await purchases.ownedBy(app, 'bob')).toHaveLength(1);
  });

  it('bring the users of the purchase that they replace along', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann'));
    const { purchase } = seenPurchase({ purchaseId: 'store_a:2', transactionId: 'store_a:2' });
    const replacement = seenPurchase(purchase, { replaces: id });
    await purchases.record(app, 'store_a:2', seen(undefined, replacement));
    expect(await purchases.find(app, 'store_a:2')).toMatchObject({ entitledUsers: ['ann'] });
    expect(await purchases.ownedBy(app, 'ann')).toHaveLength(2);
  });

  it('hold no refresh token in clear', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann', { ...seenPurchase(), refreshToken: { token: 'secret-token' } }));
    const items = await table.query({ partition: purchasePartition(app, id) });
    expect(JSON.stringify(items)).toContain('refreshToken');
    expect(JSON.stringify(items)).not.toContain('secret-token');
  });

  it('are not made by a link to a purchase that nobody knows', async () => {
    const app = freshName();
    expect(await purchases.record(app, id, linked('bob'))).toBeUndefined();
    expect(await purchases.find(app, id)).toBeUndefined();
  });

  it('take a history longer than one transaction of the table', async () => {
    const app = freshName();
    const renewals = Array.from({ length: 187 }, (_, index) => renewal(index + 1));
    const last = renewals.at(-1);
    if (!last) throw new Error('there are renewals');
    await purchases.record(
      app,
      id,
      seen('ann', { ...last, transactions: renewals.flatMap(({ transactions }) => transactions) }),
    );
    expect(await purchases.transactionsOf(app, [id])).toHaveLength(187);
    expect((await purchases.find(app, id))?.purchase.transactionId).toBe('store_a:187');
  });

  it('are invisible to another application with the same ids', async () => {
    const [app, other] = [freshName(), freshName()];
    await purchases.record(app, id, seen('ann'));
    expect(await purchases.find(other, id)).toBeUndefined();
    expect(await purchases.ownedBy(other, 'ann')).toEqual([]);
    expect(await transactionsOf(table).find(other, 'store_a:1')).toBeUndefined();
    expect(await transactionsOf(table).find(app, 'store_a:1')).toMatchObject({ purchaseId: id });
  });
});
