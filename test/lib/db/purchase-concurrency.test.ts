import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { purchaseKey } from '../../../lib/db/keys.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/record-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import {
  createObservation,
  createTransaction,
  createUniqueName,
  dayMs,
  startDate,
  type UnrefreshableObservation,
} from '../../../testing/given.ts';
import { buildValidationInput, createTestPurchases, type TestPurchases } from '../../../testing/purchase-repository.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let purchases: TestPurchases;
beforeAll(async () => {
  table = await createTestTable();
  purchases = createTestPurchases(table);
});

const id = 'store_a:1';
const linked = (username: string, now: number): RecordPurchaseInput => ({
  trigger: 'link',
  claim: { username, source: 'manual' },
  strategy: 'all',
  now,
});

const withoutAmount = ({ currency, amountMicros, ...transaction }: Transaction): Transaction => transaction;
const withTransactions = (
  look: UnrefreshableObservation,
  transactions: readonly Transaction[],
): UnrefreshableObservation => ({ ...look, transactions });

describe('an older look that comes later', () => {
  it.each([
    ['no amount', {}],
    ["the client's amount", { currency: 'USD', amountMicros: 5, isReportedAmount: true }],
  ])("brings the store's amount to a payment of which %s is known", async (_what, known) => {
    const appName = createUniqueName();
    const later = createObservation({}, { asOf: startDate + 60_000 });
    const first = later.transactions.map((one) => ({ ...withoutAmount(one), ...known }));
    await purchases.recordPurchase(appName, id, buildValidationInput('ann', withTransactions(later, first)));
    await purchases.recordPurchase(appName, id, {
      ...{ trigger: 'notification', observation: createObservation(), strategy: 'all', now: startDate + 61_000 },
      notificationPart: { platform: 'store_a', key: 'push', isOneOfSeveral: false },
    });
    expect(await purchases.listTransactions(appName, [id])).toMatchObject([{ amountMicros: 4_990_000 }]);
  });
});

describe('a purchase whose user the store names in two forms', () => {
  const hex = createHash('md5').update('ann').digest('hex');
  const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-3$3-8$4-$5');

  it.each([[[hex, hex]], [[hex, uuid]]])('at once can be written and claimed: %j', async (userAliases) => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, {
      ...buildValidationInput(undefined, createObservation({}, { userAliases })),
      trigger: 'notification',
    });
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    expect((await purchases.find(appName, id))?.entitledUsers).toEqual(['ann']);
  });

  it('one after the other can be claimed', async () => {
    const appName = createUniqueName();
    for (const token of [hex, uuid]) {
      await purchases.recordPurchase(
        appName,
        id,
        buildValidationInput(undefined, createObservation({}, { userAliases: [token] })),
      );
    }
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    expect((await purchases.find(appName, id))?.entitledUsers).toEqual(['ann']);
  });
});

describe('an expiry that nobody was told of', () => {
  it.each([
    ['can be refreshed', { refreshToken: { token: 'x' } }],
    ['cannot be refreshed', {}],
  ])('stays due when a subscription that %s is linked after its date', async (_what, more) => {
    const appName = createUniqueName();
    await purchases.recordPurchase(
      appName,
      id,
      buildValidationInput('ann', { ...createObservation({ renewalIntent: 'Lapse' }), ...more }),
    );
    const result = await purchases.recordPurchase(appName, id, linked('bob', startDate + 31 * dayMs + 3_000));
    expect(result?.change?.lifecycleReasons).toEqual([]);
    expect((await table.get(purchaseKey(appName, id)))?.dueSk).toBeDefined();
  });
});

describe('a claim', () => {
  it('that is written while the purchase is read is not lost', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    let isFirst = true;
    const slow = createTestPurchases({
      ...table,
      query: async (range) => {
        const early = await table.query(range);
        if (!isFirst || !range.partition.includes('#P#')) return early;
        isFirst = false;
        await purchases.recordPurchase(appName, id, buildValidationInput('bob'));
        const late = await table.query(range);
        const isClaim = ({ sk }: Item) => String(sk) < 'P';
        return [...early.filter(isClaim), ...late.filter((item) => !isClaim(item))];
      },
    });
    await slow.recordPurchase(appName, id, buildValidationInput('cy'));
    expect((await purchases.find(appName, id))?.entitledUsers.toSorted()).toEqual(['ann', 'bob', 'cy']);
    expect(await purchases.listByUser(appName, 'bob')).toHaveLength(1);
  });

  it('by hand counts when it comes last, also from a machine whose clock is behind', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    await purchases.recordPurchase(appName, id, linked('bob', startDate + dayMs));
    await purchases.recordPurchase(appName, id, linked('cy', startDate + dayMs - 5));
    expect((await purchases.find(appName, id))?.entitledUsers).toEqual(['cy']);
  });
});

describe('a refund in a change of many writes', () => {
  it('is told also when another writer comes between the writes', async () => {
    const appName = createUniqueName();
    const base = createObservation();
    const latest = createTransaction(base.purchase);
    const month = 31 * dayMs;
    const older = Array.from({ length: 120 }, (_, index) => {
      const purchaseDate = startDate - (200 - index) * month;
      return createTransaction(base.purchase, {
        transactionId: `store_a:h${index}`,
        purchaseDate,
        expirationDate: purchaseDate + month,
      });
    });
    await purchases.recordPurchase(
      appName,
      id,
      buildValidationInput('ann', withTransactions(base, [...older.map(withoutAmount), latest])),
    );
    let writes = 0;
    const raced = createTestPurchases({
      ...table,
      transact: async (batch) => {
        writes += 1;
        if (writes === 2) await purchases.recordPurchase(appName, id, buildValidationInput('bob'));
        await table.transact(batch);
      },
    });
    const refunded = older.map((one, index) => (index === 0 ? { ...one, refundedAt: startDate + dayMs } : one));
    const observation = withTransactions({ ...base, asOf: startDate + dayMs }, [...refunded, latest]);
    await raced.recordPurchase(appName, id, {
      trigger: 'notification',
      observation,
      strategy: 'all',
      now: startDate + dayMs,
    });
    expect(writes).toBeGreaterThan(2);
    const told = (await purchases.listNotifications(appName, id)).map(({ reason }) => reason);
    expect(told).toEqual(['PURCHASED', 'REFUNDED']);
  });
});
