import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { EncryptedObservation } from '../../../lib/purchases/merge.ts';
import { computePurchaseChange } from '../../../lib/purchases/purchase-change.ts';
import { listRefundedAmounts, mergePartialRefunds } from '../../../lib/purchases/refunds.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import { toTransactionRecord } from '../../../lib/purchases/to-records.ts';
import type { PartialRefund, Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';

const payment = createTransaction(createObservation().purchase, { amountMicros: 10_000_000, quantity: 4 });

/** Creates a refund of one to four dollars on a day after the purchase. */
const createRefund = (day: number): PartialRefund => ({
  id: `refund-${day}`,
  date: startDate + day * dayMs,
  amountMicros: ((day % 4) + 1) * 1_000_000,
});

/** Builds an observation of the day that contains some of the refunds. */
const observeRefunds = (day: number, partialRefunds: readonly PartialRefund[]): EncryptedObservation =>
  createObservation(
    {},
    {
      asOf: startDate + day * dayMs,
      transactions: [{ ...payment, ...(partialRefunds.length > 0 && { partialRefunds }) }],
    },
  );

/** Records the observations in order, and returns the final state and the announced refunds. */
function recordAll(observations: readonly EncryptedObservation[]) {
  let stored: StoredPurchase | undefined;
  const announced: string[] = [];
  for (const [index, observation] of observations.entries()) {
    const now = startDate + dayMs + index;
    const change = computePurchaseChange(stored, { trigger: 'notification', observation, strategy: 'all', now });
    announced.push(...(change?.announcedReasons ?? []).filter((reason) => reason !== 'OTHER'));
    stored = change?.after ?? stored;
  }
  return { purchase: stored?.state.purchase, transactions: stored?.state.transactions, announced };
}

const arbitraryDays = fc.uniqueArray(fc.integer({ min: 2, max: 20 }), { minLength: 1, maxLength: 5 });

describe('partial refunds of a purchase', () => {
  it('lead to one state with one REFUNDED per refund for partial observations in any order', () => {
    fc.assert(
      fc.property(arbitraryDays, fc.infiniteStream(fc.nat()), (days, choices) => {
        const next = (max: number) => Number(choices.next().value) % max;
        const refunds = days.map(createRefund);
        // Each observation contains one refund and any of the others.
        const observations = refunds.map((refund, index) =>
          observeRefunds(21 + index, [refund, ...refunds.filter((other) => other !== refund && next(2) === 0)]),
        );
        const shuffled = [...observations, ...observations]
          .map((observation) => ({ observation, position: next(1_000) }))
          .sort((a, b) => a.position - b.position)
          .map(({ observation }) => observation);
        const expected = recordAll([observeRefunds(0, []), ...observations]);
        const actual = recordAll([observeRefunds(0, []), ...shuffled]);
        expect(actual.transactions).toEqual(expected.transactions);
        expect(actual.purchase).toEqual(expected.purchase);
        expect(actual.announced).toEqual(['PURCHASED', ...days.map(() => 'REFUNDED')]);
      }),
      sampleRuns({ sample: 100, full: 300 }),
    );
  });

  it('add up to the latest sum that is not reversed, in any order', () => {
    const events = fc.uniqueArray(fc.record({ day: fc.integer({ min: 1, max: 20 }), isReversal: fc.boolean() }), {
      selector: ({ day }) => day,
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(events, (history) => {
        const refunds = history.map(({ day, isReversal }): PartialRefund => {
          const date = startDate + day * dayMs;
          return isReversal
            ? { id: 'sum', date, reversedAt: date }
            : { id: 'sum', date, latestDate: date, amountMicros: day * 100_000 };
        });
        const partialRefunds = refunds
          .map((refund) => [refund])
          .reduce((a, b) => [...(mergePartialRefunds(a, b) ?? [])]);
        const counted = listRefundedAmounts({ ...payment, partialRefunds }).map(({ amountMicros }) => amountMicros);
        const last = history.toSorted((a, b) => a.day - b.day).at(-1);
        expect(counted).toEqual(last?.isReversal === false ? [last.day * 100_000] : []);
      }),
    );
  });

  it('of an item count once, if an earlier build has stored them one by one', () => {
    const stored = [1, 2].map((day) => {
      const date = startDate + day * dayMs;
      return { id: `item book ${date}`, date, amountMicros: 1_000_000 };
    });
    const sum = { id: 'item book', date: startDate, isSum: true, amountMicros: 2_000_000 } as const;
    expect(mergePartialRefunds(stored, [sum])).toEqual([sum]);
    expect(mergePartialRefunds([sum], stored)).toEqual([sum]);
    expect(mergePartialRefunds(stored)).toEqual(stored);
  });

  it('keep the purchase, and remain if a later observation lacks them', () => {
    const refund = createRefund(3);
    const { purchase, transactions } = recordAll([
      observeRefunds(0, []),
      observeRefunds(3, [refund]),
      observeRefunds(9, []),
    ]);
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions?.map(({ transaction }) => transaction.partialRefunds)).toEqual([[refund]]);
  });

  it('precede a refund of the rest, which is announced', () => {
    const partial = observeRefunds(3, [createRefund(3)]);
    const refundedAt = startDate + 5 * dayMs;
    const full = createObservation(
      { endedAt: refundedAt, cancelationReason: 'Customer' },
      { asOf: refundedAt, transactions: [{ ...payment, partialRefunds: [createRefund(3)], refundedAt }] },
    );
    const expected = ['PURCHASED', 'REFUNDED', 'REFUNDED'];
    expect(recordAll([observeRefunds(0, []), partial, full]).announced).toEqual(expected);
    expect(recordAll([observeRefunds(0, []), full, partial]).announced).toEqual(expected);
  });
});

describe('listRefundedAmounts', () => {
  const arbitraryTransaction: fc.Arbitrary<Transaction> = fc
    .record({
      amountMicros: fc.integer({ min: 0, max: 100_000_000 }),
      amounts: fc.array(fc.integer({ min: 0, max: 40_000_000 }), { maxLength: 5 }),
      isFullyRefunded: fc.boolean(),
    })
    .map(({ amountMicros, amounts, isFullyRefunded }) => ({
      ...payment,
      currency: 'JPY',
      usdRate: '1.0389/163.06',
      usdRateDate: '2026-01-01',
      amountMicros,
      partialRefunds: amounts.map((amount, day) => ({ id: `${day}`, date: startDate + day, amountMicros: amount })),
      ...(isFullyRefunded && { refundedAt: startDate + 30 * dayMs }),
    }));

  it('never exceeds the payment, and adds up to the payment for a full refund, also in US dollars', () => {
    fc.assert(
      fc.property(arbitraryTransaction, (transaction) => {
        const refunds = listRefundedAmounts(transaction);
        const sum = refunds.reduce((total, { amountMicros = 0 }) => total + amountMicros, 0);
        const cents = refunds.reduce((total, { amountUsd = 0 }) => total + Math.round(amountUsd * 100), 0);
        const amountUsd = toTransactionRecord(transaction).amountUSD ?? 0;
        expect(sum).toBeLessThanOrEqual(transaction.amountMicros ?? 0);
        expect(refunds.every(({ amountMicros = 0 }) => amountMicros >= 0)).toBe(true);
        if (transaction.refundedAt === undefined) return;
        expect({ sum, cents }).toEqual({ sum: transaction.amountMicros, cents: Math.round(amountUsd * 100) });
      }),
    );
  });

  it('computes the amount of a refund by quantity', () => {
    const partialRefunds = [{ id: 'a', date: startDate, quantity: 1 }];
    expect(listRefundedAmounts({ ...payment, partialRefunds })).toEqual([
      { date: startDate, amountMicros: 2_500_000, amountUsd: 2.5 },
    ]);
  });

  it('returns no amount if the amount of the payment is unknown', () => {
    const { amountMicros: _amount, ...unknown } = payment;
    const transaction = { ...unknown, partialRefunds: [createRefund(3)] };
    expect(listRefundedAmounts(transaction)).toEqual([{ date: startDate + 3 * dayMs }]);
    expect(toTransactionRecord(transaction)).toMatchObject({ refundDate: '2026-01-04T00:00:00.000Z' });
    expect(toTransactionRecord(transaction)).not.toHaveProperty('refundedAmountMicros');
  });
});

describe('toTransactionRecord', () => {
  it('returns the refunded sum and the date of the latest refund', () => {
    const partialRefunds = [createRefund(2), createRefund(5)];
    expect(toTransactionRecord({ ...payment, partialRefunds })).toMatchObject({
      amountMicros: 10_000_000,
      refundedAmountMicros: 5_000_000,
      refundDate: '2026-01-06T00:00:00.000Z',
    });
    const refundedAt = startDate + 7 * dayMs;
    expect(toTransactionRecord({ ...payment, partialRefunds, refundedAt })).toMatchObject({
      refundedAmountMicros: 10_000_000,
      refundDate: '2026-01-08T00:00:00.000Z',
    });
  });
});
