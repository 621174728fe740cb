import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { addBillingPeriods, type BillingPeriod } from '../../../lib/foundation/billing-period.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { computePurchaseChange } from '../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const season = 'non renewing subscription';

/** Records an observation without an end. `day` is the day of the observation. */
function record(
  before: StoredPurchase | undefined,
  { period, catalogue, day = 0, ...fields }: RecordInput,
): StoredPurchase | undefined {
  const { purchase, ...observation } = createObservation({ productType: season, ...fields.purchase });
  const { expirationDate: _end, ...endless } = purchase;
  const transactions = observation.transactions.map(({ expirationDate: _date, ...transaction }) => transaction);
  const change = computePurchaseChange(before, {
    trigger: 'validation',
    observation: { ...observation, asOf: startDate + day * dayMs, purchase: endless, transactions },
    ...(period && { reportedPeriod: period }),
    ...(catalogue && { catalogue }),
    strategy: 'all',
    now: startDate + dayMs,
  });
  return change?.after ?? before;
}

interface RecordInput {
  readonly period?: BillingPeriod | undefined;
  readonly catalogue?: Catalogue;
  readonly day?: number;
  readonly purchase?: Partial<Purchase>;
}

const getEnd = (stored: StoredPurchase | undefined): number | undefined => stored?.state.purchase.expirationDate;
const yearEnd = addBillingPeriods(startDate, 'P1Y');

const arbitraryStatement = fc.record({
  period: fc.option(
    fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.constantFrom('D', 'W', 'M', 'Y')).map(([n, unit]) => `P${n}${unit}`),
    { nil: undefined },
  ),
  day: fc.integer({ min: 0, max: 9 }),
});

describe('end of a non-renewing subscription', () => {
  it('lies within a year of the payment, and never moves later or disappears after another statement', () => {
    fc.assert(
      fc.property(fc.array(arbitraryStatement, { minLength: 1, maxLength: 8 }), (statements) => {
        let stored: StoredPurchase | undefined;
        let previousEnd = yearEnd;
        for (const statement of statements) {
          stored = record(stored, statement);
          const end = getEnd(stored) ?? Number.POSITIVE_INFINITY;
          expect(end).toBeLessThanOrEqual(previousEnd);
          previousEnd = end;
        }
        const [first] = statements.flatMap(({ period }) => period ?? []);
        expect(previousEnd).toBe(first ? Math.min(addBillingPeriods(startDate, first), yearEnd) : yearEnd);
      }),
    );
  });

  it('follows the catalogue, even if it changes', () => {
    const monthly = { monthly: { type: season, billingPeriod: 'P1M' } } as const;
    const stated = record(undefined, { period: 'P6M' });
    const first = record(stated, { catalogue: monthly, day: 1 });
    expect(getEnd(first)).toBe(addBillingPeriods(startDate, 'P1M'));
    const threeYears = { 'store_a:monthly': { type: season, billingPeriod: 'P3Y' } } as const;
    const second = record(first, { catalogue: threeYears, period: 'P1M', day: 2 });
    expect(getEnd(second)).toBe(addBillingPeriods(startDate, 'P3Y'));
    // Without an entry, the stored end stays.
    expect(getEnd(record(second, { period: 'P1D', day: 3 }))).toBe(getEnd(second));
  });

  it('starts again with a new payment', () => {
    const first = record(undefined, { period: 'P1M' });
    const paidAt = startDate + 60 * dayMs;
    const payment = { transactionId: 'store_a:2', lastRenewalDate: paidAt };
    const second = record(first, { period: 'P2M', day: 60, purchase: payment });
    expect(getEnd(second)).toBe(addBillingPeriods(paidAt, 'P2M'));
  });

  it('follows the report of the store', () => {
    const end = startDate + 10 * dayMs;
    const reported = computePurchaseChange(undefined, {
      trigger: 'notification',
      observation: createObservation({ productType: season, expirationDate: end }),
      strategy: 'all',
      now: startDate,
    })?.after;
    const catalogue = { monthly: { type: season, billingPeriod: 'P1Y' } } as const;
    expect(getEnd(record(reported, { catalogue, period: 'P1Y', day: -1 }))).toBe(end);
  });

  it('appears in the latest transaction, too', () => {
    const [observed] = record(undefined, { period: 'P1M' })?.state.transactions ?? [];
    expect(observed?.transaction.expirationDate).toBe(addBillingPeriods(startDate, 'P1M'));
  });
});
