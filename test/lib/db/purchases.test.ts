import { beforeAll, describe, expect, it } from '@jest/globals';
import { claimKey, purchasePartition } from '../../../lib/db/keys.ts';
import type { Happened, Purchases } from '../../../lib/db/purchases.ts';
import type { Table } from '../../../lib/db/table.ts';
import { transactionsOf } from '../../../lib/db/transactions.ts';
import { day, freshName, paid, seenPurchase, start } from '../../support/given.ts';
import { recordingOver, seen } from '../../support/recording.ts';
import { testTable } from '../../support/table.ts';

let table: Table;
let purchases: Purchases;
beforeAll(async () => {
  table = await testTable();
  purchases = recordingOver(table);
});

const id = 'store_a:1';
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

/** Claims as they are kept; the next change makes owners of them. */
async function claimFor(app: string, usernames: readonly string[]): Promise<void> {
  const claims = usernames.map((username, index) => {
    const at = start + 1 + index;
    return { ...claimKey(app, id, username), username, how: 'validation', firstAt: at, lastAt: at };
  });
  await table.batchPut(claims);
}

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

  it('move their date of update on with each change, also when the clock of its writer is behind', async () => {
    const app = freshName();
    const recorded = await Promise.all(
      [renewal(1), renewal(2), renewal(3)].map((look) => purchases.record(app, id, seen('ann', look))),
    );
    const dates = recorded.map((one) => one?.change?.after.updatedAt ?? 0);
    expect(new Set(dates).size).toBe(3);
    const late = { ...seen('ann', renewal(4)), now: start - day };
    expect((await purchases.record(app, id, late))?.change?.after.updatedAt).toBeGreaterThan(Math.max(...dates));
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

  it('take as many users as their item can hold, and the purchase that replaces them takes these along', async () => {
    const app = freshName();
    const users = Array.from({ length: 501 }, (_, index) => `${'user-of-the-family-'.repeat(4)}${index}`);
    for (const user of users.slice(0, 3)) await purchases.record(app, id, seen(user));
    await claimFor(app, users.slice(3, 500));
    await purchases.record(app, id, seen(users[3]));
    await purchases.record(app, id, seen(users[500]));
    expect((await purchases.find(app, id))?.entitledUsers).toHaveLength(500);
    expect(await purchases.ownedBy(app, users[500] ?? '')).toEqual([]);
    const next = { ...seenPurchase({ purchaseId: 'store_a:2', transactionId: 'store_a:2' }), replaces: id };
    await purchases.record(app, 'store_a:2', { ...seen(undefined, next), cause: 'refresh' });
    expect((await purchases.find(app, 'store_a:2'))?.entitledUsers).toHaveLength(500);
    for (const user of [users[0], users[499]]) {
      expect((await purchases.ownedBy(app, user ?? '')).map(({ purchaseId }) => purchaseId)).toContain('store_a:2');
    }
    await purchases.record(app, 'store_a:2', linked('ann'));
    expect((await purchases.find(app, 'store_a:2'))?.entitledUsers).toEqual(['ann']);
    expect((await purchases.ownedBy(app, users[499] ?? '')).map(({ purchaseId }) => purchaseId)).not.toContain(
      'store_a:2',
    );
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'that change hands in many writes are whole again after a crash before write %i',
    async (crash) => {
      const app = freshName();
      const users = Array.from({ length: 120 }, (_, index) => `user-${index}`);
      await purchases.record(app, id, seen(users[0]));
      await claimFor(app, users.slice(1));
      await purchases.record(app, id, seen(users[1]));
      let writes = 0;
      const crashing = recordingOver({
        ...table,
        transact: async (some) => {
          writes += 1;
          if (writes === crash) throw new Error('crashed');
          await table.transact(some);
        },
      });
      const next = { ...seenPurchase({ purchaseId: 'store_a:2', transactionId: 'store_a:2' }), replaces: id };
      const replacing: Happened = { ...seen(undefined, next), cause: 'refresh' };
      await crashing.record(app, 'store_a:2', replacing).catch(() => undefined);
      await purchases.record(app, 'store_a:2', replacing);
      for (const user of users) {
        const owned = (await purchases.ownedBy(app, user)).map(({ purchaseId }) => purchaseId);
        expect(owned).toContain('store_a:2');
      }
      writes = 0;
      await crashing.record(app, 'store_a:2', linked('ann')).catch(() => undefined);
      await purchases.record(app, 'store_a:2', linked('ann'));
      for (const user of users) {
        expect((await purchases.ownedBy(app, user)).map(({ purchaseId }) => purchaseId)).toEqual([id]);
      }
      expect(await purchases.ownedBy(app, 'ann')).toHaveLength(1);
    },
  );

  it('are invisible to another application with the same ids', async () => {
    const [app, other] = [freshName(), freshName()];
    await purchases.record(app, id, seen('ann'));
    expect(await purchases.find(other, id)).toBeUndefined();
    expect(await purchases.ownedBy(other, 'ann')).toEqual([]);
    expect(await transactionsOf(table).find(other, 'store_a:1')).toBeUndefined();
    expect(await transactionsOf(table).find(app, 'store_a:1')).toMatchObject({ purchaseId: id });
  });
});
