import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAppItemRepository } from '../../../lib/db/app-item-repository.ts';
import { purchasePartition, toKey } from '../../../lib/foundation/keys.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { toAmountUsd } from '../../../lib/money/usd-amount.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { dayMs } from '../../../lib/shared/time.ts';
import { restateFigures } from '../../../lib/statistics/restate-figures.ts';
import { createObservation, createTransaction, givenApp, startDate } from '../../../testing/given.ts';
import { buildValidationInput, createTestPurchases } from '../../../testing/purchase-repository.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const purchaseId = 'store_a:upgraded';

/** A subscription with a renewal and a refund, stored by a release without figures. */
async function givenEarlierPurchase(payment: Partial<Transaction> = {}) {
  const { appName } = await givenApp(table);
  const purchases = createTestPurchases(table);
  const expirationDate = startDate + 60 * dayMs;
  const fields = {
    purchaseId,
    transactionId: `${purchaseId}-1`,
    productType: 'paid subscription',
    expirationDate,
  } as const;
  const observation = createObservation(fields);
  const transactions = [0, 1].map((renewal) =>
    createTransaction(observation.purchase, {
      transactionId: `${purchaseId}-${renewal}`,
      purchaseDate: startDate + renewal * 30 * dayMs,
      expirationDate: startDate + (renewal + 1) * 30 * dayMs,
      amountMicros: 5_000_000,
      ...payment,
      ...(renewal === 0 && { refundedAt: startDate + 3 * dayMs }),
    }),
  );
  await purchases.recordPurchase(appName, purchaseId, buildValidationInput('ann', { ...observation, transactions }));
  const readItems = async (prefix: string) =>
    await table.query({ partition: purchasePartition(appName, purchaseId), prefix });
  const readFigures = async () => (await readItems('T#')).map(({ sk, figures }) => [sk, figures]);
  const expected = await readFigures();
  for (const { figures: _figures, ...item } of await readItems('T#')) await table.batchPut([item as Item]);
  const app = { name: appName, strategy: 'all' } as const;
  const deps = {
    purchases,
    recordPurchase: purchases.recordPurchase,
    appItems: createAppItemRepository(table),
    exchangeRates: { findForDate: async () => undefined },
    now: () => startDate + 90 * dayMs,
  };
  return { app, deps, expected, readFigures, readItems };
}

describe('restateFigures', () => {
  it('counts the purchases of an earlier release without a change', async () => {
    const { app, deps, readFigures } = await givenEarlierPurchase();
    expect(await restateFigures(app, deps, { correct: false })).toBe(1);
    expect((await readFigures()).map(([, figures]) => figures)).toEqual([undefined, undefined]);
  });

  it('adds the figures that a new purchase would have, announces nothing, and finds nothing again', async () => {
    const { app, deps, expected, readFigures, readItems } = await givenEarlierPurchase();
    const notifications = (await readItems('N#')).map(toKey);
    expect(await restateFigures(app, deps, { correct: true })).toBe(1);
    expect(await readFigures()).toEqual(expected);
    expect((await readItems('N#')).map(toKey)).toEqual(notifications);
    const [stored] = await readItems('P');
    expect(stored?.announcedReasons).toEqual([]);
    expect(await restateFigures(app, deps, { correct: true })).toBe(0);
  });

  it('corrects the commission of earlier payments to the rates that apply on their days', async () => {
    const { app, deps, expected, readFigures } = await givenEarlierPurchase();
    await restateFigures(app, deps, { correct: true });
    const commissionRates = [{ platform: 'store_a' as const, from: '2020-01-01', commissionPercent: 12 }];
    const { recordPurchase } = createTestPurchases(table, { commissionRates, unverifiedHours: undefined });
    const [changedApp, changedDeps] = [
      { ...app, commissionRates },
      { ...deps, recordPurchase },
    ];
    expect(await restateFigures(changedApp, changedDeps, { correct: true })).toBe(1);
    expect(await readFigures()).toEqual(
      expected.map(([sk, figures]) => [sk, { ...(figures as object), share: 8_800 }]),
    );
    expect(await restateFigures(changedApp, changedDeps, { correct: true })).toBe(0);
  });

  it('converts earlier payments in a currency for which the app has set a rate', async () => {
    const { app, deps, readItems } = await givenEarlierPurchase({ currency: 'VND', amountMicros: 131_500_000_000 });
    const exchangeRates = [{ currency: 'VND', from: '2020-01-01', perUSD: '26300' }];
    const { recordPurchase } = createTestPurchases(table, { exchangeRates, unverifiedHours: undefined });
    expect(await restateFigures({ ...app, exchangeRates }, { ...deps, recordPurchase }, { correct: true })).toBe(1);
    const amounts = (await readItems('T#')).map(({ transaction }) => toAmountUsd(transaction as Transaction));
    expect(amounts).toEqual([5, 5]);
  });
});
