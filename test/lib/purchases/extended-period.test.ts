import { describe, expect, it } from '@jest/globals';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import { merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import type { Observation } from '../../../lib/purchases/observation.ts';
import { computeMonthlyAmounts } from '../../../lib/purchases/payment-amounts.ts';
import { keepPaidPeriods } from '../../../lib/purchases/period-end.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

/** A refresh of a monthly subscription on a day, in which its payment ends after `days`. */
function look(day: number, days: number, fields: Partial<Transaction> = {}): Observation {
  const { purchase } = createObservation({ transactionId: 'store_a:1', expirationDate: startDate + days * dayMs });
  const paid = { currency: 'USD', amountMicros: 10_000_000 };
  const payment = createTransaction(purchase, {
    purchaseDate: startDate,
    expirationDate: startDate + days * dayMs,
    ...paid,
    ...fields,
  });
  return { asOf: startDate + day * dayMs, purchase, transactions: [payment], userAliases: [] };
}

const record = (looks: readonly Observation[]): PurchaseState | undefined =>
  looks.reduce<PurchaseState | undefined>((before, observation) => {
    const { refreshToken: _token, ...observed } = observation;
    return keepPaidPeriods(merge(before, observed), { before, observation });
  }, undefined);

const readMonthly = (looks: readonly Observation[]): number | undefined => {
  const transaction = record(looks)?.transactions[0]?.transaction;
  return transaction && computeMonthlyAmounts(transaction, 10_000, Infinity)[0] / 1_000_000;
};

describe('recurring amount of a period that the store extends', () => {
  it.each([
    ['once', [look(0, 31), look(9, 61)]],
    ['twice', [look(0, 31), look(9, 61), look(19, 91), look(20, 91)]],
    ['before an older observation', [look(9, 61), look(0, 31)]],
    ['by a day', [look(0, 31), look(9, 32)]],
    ['and another plan replaces', [look(0, 31), look(9, 61), look(12, 12, { isReplaced: true })]],
  ])('keeps the recurring amount of the paid period: %s', (_title, looks) => {
    expect(readMonthly(looks)).toBe(10);
  });

  it('follows the length of a period that is not extended', () => {
    expect(readMonthly([look(0, 61), look(9, 61)])).toBe(5);
    expect(readMonthly([look(0, 31, { expirationDate: startDate + 31 * dayMs + minuteMs }), look(9, 31)])).toBe(10);
  });

  it('ignores the amount of the part until another plan replaces it', () => {
    expect(readMonthly([look(0, 61), look(12, 12, { isReplaced: true }), look(13, 12, { isReplaced: true })])).toBe(5);
  });

  it('follows an end that was cut and comes back', () => {
    expect(readMonthly([look(0, 61), look(9, 9), look(10, 61)])).toBe(5);
  });

  it('follows the end at a store that reports the plan of an extended period', () => {
    const looks = [look(0, 31, { platform: 'processor_a' }), look(9, 61, { platform: 'processor_a' })];
    expect(readMonthly(looks)).toBe(5);
  });

  it('follows the end that the store reports after an assumed one', () => {
    const assumed = look(0, 31);
    const purchase = { ...assumed.purchase, expirationSource: 'assumed' as const };
    expect(readMonthly([{ ...assumed, purchase }, look(9, 61)])).toBe(5);
  });

  it('uses the plan that the store reports', () => {
    const plan = { amountMicros: 20_000_000, period: 'P1M' as const };
    expect(readMonthly([look(0, 31), look(9, 61, { plan })])).toBe(20);
  });
});
