import { describe, expect, it } from '@jest/globals';
import { loadPaymentsFromEnd, loadPaymentsFromStart } from '../../console/pages/purchase/load-payments.ts';
import type { TransactionRecord } from '../../lib/purchases/transaction-contract.ts';

/** Payments with the numbers from 1 as ids, oldest first. */
const createPayments = (count: number): TransactionRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    transactionId: `store_a:${index + 1}`,
    purchaseId: 'store_a:1',
    productId: 'store_a:premium',
    platform: 'store_a',
    sandbox: false,
    purchaseDate: new Date(index).toISOString(),
    amountUSD: null,
    amountMicros: null,
    currency: null,
  }));

const cases = [
  { count: 0, newest: undefined, oldest: undefined, hasOlder: false, requests: 1 },
  { count: 3, newest: 3, oldest: 1, hasOlder: false, requests: 1 },
  { count: 1_000, newest: 1_000, oldest: 1, hasOlder: false, requests: 1 },
  { count: 1_001, newest: 1_001, oldest: 2, hasOlder: true, requests: 2 },
  { count: 2_500, newest: 2_500, oldest: 1_501, hasOlder: true, requests: 2 },
];
const toId = (number: number | undefined) => number && `store_a:${number}`;

describe('loadPaymentsFromEnd', () => {
  it.each(cases)('loads the newest payments of $count', async ({ count, newest, oldest, hasOlder, requests }) => {
    const all = createPayments(count);
    let calls = 0;
    const payments = await loadPaymentsFromEnd(async ({ skip, limit }) => {
      calls++;
      return { paging: { total: all.length }, rows: all.slice(skip, skip + limit) };
    });
    const ids = payments.rows.map(({ transactionId }) => transactionId);
    expect([ids[0], ids.at(-1), payments.hasOlder, calls]).toEqual([toId(newest), toId(oldest), hasOlder, requests]);
  });
});

describe('loadPaymentsFromStart', () => {
  it.each(cases)('loads the newest payments of $count', async ({ count, newest, oldest, hasOlder }) => {
    const all = createPayments(count).reverse();
    const payments = await loadPaymentsFromStart(async ({ skip, limit }) => all.slice(skip, skip + limit));
    const ids = payments.rows.map(({ transactionId }) => transactionId);
    expect([ids[0], ids.at(-1), payments.hasOlder]).toEqual([toId(newest), toId(oldest), hasOlder]);
  });
});
