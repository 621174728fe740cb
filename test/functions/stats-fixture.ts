import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { eventKey, notificationKey, transactionKey } from '../../lib/foundation/keys.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { buildStreamRecord } from '../../testing/stream-records.ts';
import { createTestTable } from '../../testing/table.ts';

/** A range with payments in three currencies, a sandbox payment, a refund, a notification and a request. */
export const marchRange = { startdate: '2026-03-01', enddate: '2026-03-03' };

/** Creates an app with the statistics of `marchRange`, and with one payment before it. */
export async function givenStats(): Promise<IssuedApiKeys> {
  const keys = await givenApp(await createTestTable());
  const records = buildItems(keys.appName).map((after, position) => buildStreamRecord({ after }, position));
  await aggregateStreamRecords(getService(), records, 'shard-1');
  return keys;
}

const atTenOClock = (day: string): number => Date.parse(`${day}T10:00:00Z`);

function buildItems(appName: string) {
  const { purchase } = createObservation();
  const buildPayment = (id: string, day: string, fields: Partial<Transaction>) => {
    const transactionId = `store_a:${id}`;
    const transaction = { ...createTransaction(purchase), transactionId, purchaseDate: atTenOClock(day), ...fields };
    return { ...transactionKey(appName, purchase.purchaseId, transactionId), transaction };
  };
  const date = atTenOClock('2026-03-01');
  return [
    buildPayment('1', '2026-02-27', { currency: 'USD', amountMicros: 4_990_000 }),
    buildPayment('2', '2026-03-01', { currency: 'EUR', amountMicros: 10_000_000, usdRate: '1.1/1' }),
    buildPayment('3', '2026-03-01', { currency: 'XAU', amountMicros: 7_000_000 }),
    buildPayment('4', '2026-03-01', { currency: 'USD', amountMicros: 9_990_000, sandbox: true }),
    buildPayment('5', '2026-03-02', {
      currency: 'USD',
      amountMicros: 2_000_000,
      refundedAt: atTenOClock('2026-03-03'),
    }),
    {
      ...notificationKey(appName, 'store_a:1', date, 0, 'n'),
      date,
      reason: 'RENEWED',
      platform: 'store_a',
      productId: 'store_a:monthly',
    },
    { ...eventKey(appName, 'e'), date, type: 'receipt.validated' },
  ];
}
