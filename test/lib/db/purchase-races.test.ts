import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { purchaseKey } from '../../../lib/db/keys.ts';
import type { Happened, Purchases } from '../../../lib/db/purchases.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import type { Transaction } from '../../../lib/transactions/transaction.ts';
import { day, freshName, type Look, paid, seenPurchase, start } from '../../support/given.ts';
import { recordingOver, seen } from '../../support/recording.ts';
import { testTable } from '../../support/table.ts';

let table: Table;
let purchases: Purchases;
beforeAll(async () => {
  table = await testTable();
  purchases = recordingOver(table);
});

const id = 'store_a:1';
const linked = (username: string, now: number): Happened => ({
  cause: 'link',
  claim: { username, how: 'manual' },
  strategy: 'all',
  now,
});

const withoutAmount = ({ currency, amountMicros, ...transaction }: Transaction): Transaction => transaction;
const withTransactions = (look: Look, transactions: readonly Transaction[]): Look => ({ ...look, transactions });

describe('an older look that comes later', () => {
  it.each([
    ['no amount', {}],
    ["the client's amount", { currency: 'USD', amountMicros: 5, isReportedAmount: true }],
  ])("brings the store's amount to a payment of which %s is known", async (_what, known) => {
    const app = freshName();
    const later = seenPurchase({}, { asOf: start + 60_000 });
    const first = later.transactions.map((one) => ({ ...withoutAmount(one), ...known }));
    await purchases.record(app, id, seen('ann', withTransactions(later, first)));
    await purchases.record(app, id, {
      ...{ cause: 'notification', observed: seenPurchase(), strategy: 'all', now: start + 61_000 },
      message: { platform: 'store_a', key: 'push', isPart: false },
    });
    expect(await purchases.transactionsOf(app, [id])).toMatchObject([{ amountMicros: 4_990_000 }]);
  });
});

describe('a purchase whose user the store names in two forms', () => {
  const hex = createHash('md5').update('ann').digest('hex');
  const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-3$3-8$4-$5');

  it.each([[[hex, hex]], [[hex, uuid]]])('at once can be written and claimed: %j', async (userTokens) => {
    const app = freshName();
    await purchases.record(app, id, { ...seen(undefined, seenPurchase({}, { userTokens })), cause: 'notification' });
    await purchases.record(app, id, seen('ann'));
    expect((await purchases.find(app, id))?.entitledUsers).toEqual(['ann']);
  });

  it('one after the other can be claimed', async () => {
    const app = freshName();
    for (const token of [hex, uuid]) {
      await purchases.record(app, id, seen(undefined, seenPurchase({}, { userTokens: [token] })));
    }
    await purchases.record(app, id, seen('ann'));
    expect((await purchases.find(app, id))?.entitledUsers).toEqual(['ann']);
  });
});

describe('an expiry that nobody was told of', () => {
  it.each([
    ['can be refreshed', { refreshToken: { token: 'x' } }],
    ['cannot be refreshed', {}],
  ])('stays due when a subscription that %s is linked after its date', async (_what, more) => {
    const app = freshName();
    await purchases.record(app, id, seen('ann', { ...seenPurchase({ renewalIntent: 'Lapse' }), ...more }));
    const result = await purchases.record(app, id, linked('bob', start + 31 * day + 3_000));
    expect(result?.change?.reasons).toEqual([]);
    expect((await table.get(purchaseKey(app, id)))?.dueSk).toBeDefined();
  });
});

describe('a claim', () => {
  it('that is written while the purchase is read is not lost', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann'));
    let isFirst = true;
    const slow = recordingOver({
      ...table,
      query: async (range) => {
        const early = await table.query(range);
        if (!isFirst || !range.partition.includes('#P#')) return early;
        isFirst = false;
        await purchases.record(app, id, seen('bob'));
        const late = await table.query(range);
        const isClaim = ({ sk }: Item) => String(sk) < 'P';
        return [...early.filter(isClaim), ...late.filter((item) => !isClaim(item))];
      },
    });
    await slow.record(app, id, seen('cy'));
    expect((await purchases.find(app, id))?.entitledUsers.toSorted()).toEqual(['ann', 'bob', 'cy']);
    expect(await purchases.ownedBy(app, 'bob')).toHaveLength(1);
  });

  it('by hand counts when it comes last, also from a machine whose clock is behind', async () => {
    const app = freshName();
    await purchases.record(app, id, seen('ann'));
    await purchases.record(app, id, linked('bob', start + day));
    await purchases.record(app, id, linked('cy', start + day - 5));
    expect((await purchases.find(app, id))?.entitledUsers).toEqual(['cy']);
  });
});

describe('a refund in a change of many writes', () => {
  it('is told also when another writer comes between the writes', async () => {
    const app = freshName();
    const base = seenPurchase();
    const latest = paid(base.purchase);
    const month = 31 * day;
    const older = Array.from({ length: 120 }, (_, index) => {
      const purchaseDate = start - (200 - index) * month;
      return paid(base.purchase, {
        transactionId: `store_a:h${index}`,
        purchaseDate,
        expirationDate: purchaseDate + month,
      });
    });
    await purchases.record(app, id, seen('ann', withTransactions(base, [...older.map(withoutAmount), latest])));
    let writes = 0;
    const raced = recordingOver({
      ...table,
      transact: async (some) => {
        writes += 1;
        if (writes === 2) await purchases.record(app, id, seen('bob'));
        await table.transact(some);
      },
    });
    const refunded = older.map((one, index) => (index === 0 ? { ...one, refundedAt: start + day } : one));
    const observed = withTransactions({ ...base, asOf: start + day }, [...refunded, latest]);
    await raced.record(app, id, { cause: 'notification', observed, strategy: 'all', now: start + day });
    expect(writes).toBeGreaterThan(2);
    const told = (await purchases.notificationsOf(app, id)).map(({ reason }) => reason);
    expect(told).toEqual(['PURCHASED', 'REFUNDED']);
  });
});
