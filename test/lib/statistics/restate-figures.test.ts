import { describe, expect, it } from '@jest/globals';
import { updateApp } from '../../../lib/apps/app-table.ts';
import { toKey } from '../../../lib/foundation/key.ts';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { toAmountUsd } from '../../../lib/money/usd-conversion.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { restateFigures } from '../../../lib/statistics/restate-figures.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

const purchaseId = 'store_a:upgraded';

/** A subscription with a renewal and a refund, stored by a release without figures. */
async function givenEarlierPurchase(payment: Partial<Transaction> = {}) {
  const { appName } = await givenApp(table);
  const service = createService(table, { now: () => startDate + 90 * dayMs });
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
  await recordObservation(service, appName, { username: 'ann', observation: { ...observation, transactions } });
  const readItems = async (prefix: string) =>
    await table.query({ partition: purchaseKey.partition(appName, purchaseId), prefix });
  const readFigures = async () => (await readItems('T#')).map(({ sk, figures }) => [sk, figures]);
  const expected = await readFigures();
  for (const { figures: _figures, ...item } of await readItems('T#')) await table.batchPut([item as Item]);
  const app = { name: appName, strategy: 'all' } as const;
  return { app, service, expected, readFigures, readItems };
}

describe('restateFigures', () => {
  it('counts the purchases of an earlier release without a change', async () => {
    const { app, service, readFigures } = await givenEarlierPurchase();
    expect(await restateFigures(service, app, { correct: false })).toEqual({ found: 1, failed: [] });
    expect((await readFigures()).map(([, figures]) => figures)).toEqual([undefined, undefined]);
  });

  it('adds the figures that a new purchase would have, announces nothing, and finds nothing again', async () => {
    const { app, service, expected, readFigures, readItems } = await givenEarlierPurchase();
    const notifications = (await readItems('N#')).map(toKey);
    expect(await restateFigures(service, app, { correct: true })).toEqual({ found: 1, failed: [] });
    expect(await readFigures()).toEqual(expected);
    expect((await readItems('N#')).map(toKey)).toEqual(notifications);
    const [stored] = await readItems('P');
    expect(stored?.announcedReasons).toEqual([]);
    expect(await restateFigures(service, app, { correct: true })).toEqual({ found: 0, failed: [] });
  });

  it('corrects the commission of earlier payments to the rates that apply on their days', async () => {
    const { app, service, expected, readFigures } = await givenEarlierPurchase();
    await restateFigures(service, app, { correct: true });
    const commissionRates = [{ platform: 'store_a' as const, from: '2020-01-01', commissionPercent: 12 }];
    await updateApp(service, app.name, () => ({ members: { commissionRates } }));
    const changedApp = { ...app, commissionRates };
    // The app cache of the container has the earlier rates.
    const changedService = { ...service, container: {} };
    expect(await restateFigures(changedService, changedApp, { correct: true })).toEqual({ found: 1, failed: [] });
    expect(await readFigures()).toEqual(
      expected.map(([sk, figures]) => [sk, { ...(figures as object), share: 8_800 }]),
    );
    expect(await restateFigures(changedService, changedApp, { correct: true })).toEqual({ found: 0, failed: [] });
  });

  it('converts earlier payments in a currency for which the app has set a rate', async () => {
    const { app, service, readItems } = await givenEarlierPurchase({ currency: 'VND', amountMicros: 131_500_000_000 });
    const exchangeRates = [{ currency: 'VND', from: '2020-01-01', perUSD: '26300' }];
    await updateApp(service, app.name, () => ({ members: { exchangeRates } }));
    const changedService = { ...service, container: {} };
    expect(await restateFigures(changedService, { ...app, exchangeRates }, { correct: true })).toEqual({
      found: 1,
      failed: [],
    });
    const amounts = (await readItems('T#')).map(({ transaction }) => toAmountUsd(transaction as Transaction));
    expect(amounts).toEqual([5, 5]);
  });
});
