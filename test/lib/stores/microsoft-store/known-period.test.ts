import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { withKnownPeriod } from '../../../../lib/stores/microsoft-store/known-period.ts';
import { createObservation, createTransaction, startDate } from '../../../../testing/given.ts';

const secondStart = startDate + 31 * dayMs;
const secondEnd = startDate + 59 * dayMs;

const observe = (transactionId: string, expirationDate: number, lastRenewalDate?: number) => {
  const fields: Partial<Purchase> = { purchaseId: 'store_c:1', platform: 'store_c', transactionId, expirationDate };
  const renewal = lastRenewalDate === undefined ? {} : { lastRenewalDate };
  return createObservation({ ...fields, ...renewal });
};

/** The stored state: a subscription in its second period. */
const renewed = observe('store_c:1:second', secondEnd, secondStart);
const storedData = {
  findPurchase: async () => renewed.purchase,
  listTransactions: async () => [
    createTransaction(observe('store_c:1', secondStart).purchase),
    createTransaction(renewed.purchase),
  ],
};

/** Returns the transaction that the store's end of the period is recorded as. */
async function findTransaction(end: number) {
  const { purchase, transactions } = await withKnownPeriod(
    observe('store_c:1:other', end, end - 28 * dayMs),
    storedData,
  );
  expect(transactions.map(({ transactionId }) => transactionId)).toEqual([purchase.transactionId]);
  return { ...transactions[0], lastRenewalDate: purchase.lastRenewalDate };
}

describe('withKnownPeriod (Microsoft Store)', () => {
  it.each([
    ['that the store ends early', secondStart + 9 * dayMs],
    ['that is extended', secondEnd + 9 * dayMs],
  ])('keeps the payment of a renewed period %s', async (_change, end) => {
    expect(await findTransaction(end)).toMatchObject({
      transactionId: renewed.purchase.transactionId,
      purchaseDate: secondStart,
      expirationDate: end,
      lastRenewalDate: secondStart,
    });
  });

  it.each([
    ['a whole period later', secondEnd + 31 * dayMs],
    ['before the stored period', secondStart - 9 * dayMs],
  ])('records another period if it ends %s', async (_change, end) => {
    expect((await findTransaction(end)).transactionId).toBe('store_c:1:other');
  });
});
