import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../lib/foundation/time.ts';
import { type ActivePeriod, listActivePeriods, listTrials } from '../../../lib/purchases/active-periods.ts';
import type { EncryptedObservation } from '../../../lib/purchases/merge.ts';
import { isActive, isSubscription, type Purchase } from '../../../lib/purchases/purchase.ts';
import { computePurchaseChange } from '../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';

const toDate = (day: number): number => startDate + day * dayMs;
const toDay = (date: number): number => (date - startDate) / dayMs;

/** Fields of the purchase that the payments do not determine. Undefined removes a field. */
type PurchaseFields = { readonly [K in keyof Purchase]?: Purchase[K] | undefined };

interface Payment {
  readonly day: number;
  /** Last day of the paid period. */
  readonly until: number;
  readonly productId?: string;
  readonly isTrial?: boolean;
  readonly refundedOn?: number;
}

/** Builds the observation of a subscription on a day: its payments, and further fields of the store. */
function buildObservation(
  day: number,
  payments: readonly Payment[],
  fields: PurchaseFields = {},
): EncryptedObservation {
  const latest = payments.at(-1) ?? { day: 0, until: 30 };
  const toTransactionId = (payment: Payment) => `store_a:${payment.day}`;
  const { purchase } = createObservation({
    productId: latest.productId ?? 'store_a:monthly',
    transactionId: toTransactionId(latest),
    purchaseDate: toDate(payments[0]?.day ?? 0),
    expirationDate: toDate(latest.until),
    ...(latest.isTrial && { isTrialPeriod: true }),
    ...(latest.refundedOn !== undefined && { endedAt: toDate(latest.refundedOn) }),
    ...(fields as Partial<Purchase>),
  });
  const transactions = payments.map(
    (payment): Transaction => ({
      ...createTransaction(purchase),
      productId: payment.productId ?? 'store_a:monthly',
      transactionId: toTransactionId(payment),
      purchaseDate: toDate(payment.day),
      expirationDate: toDate(payment.until),
      ...(payment.isTrial && { isTrialPeriod: true, amountMicros: 0 }),
      ...(payment.refundedOn !== undefined && { refundedAt: toDate(payment.refundedOn) }),
    }),
  );
  return { asOf: toDate(day), purchase, transactions, userAliases: [] };
}

/** Records an observation, or the passing of time until a day. */
function update(
  before: StoredPurchase | undefined,
  day: number,
  observation?: EncryptedObservation,
): StoredPurchase | undefined {
  const trigger = before ? 'refresh' : 'validation';
  const change = computePurchaseChange(before, {
    trigger,
    strategy: 'all',
    now: toDate(day),
    claim: { username: 'ann', source: 'validation' },
    ...(observation && { observation }),
  });
  return change?.after ?? before;
}

type Step = readonly [day: number, payments: readonly Payment[], fields?: PurchaseFields];

const runSteps = (steps: readonly Step[]): StoredPurchase | undefined =>
  steps.reduce<StoredPurchase | undefined>(
    (before, [day, payments, fields]) => update(before, day, buildObservation(day, payments, fields)),
    undefined,
  );

const listPeriods = (stored: StoredPurchase | undefined): ActivePeriod[] =>
  stored ? listActivePeriods({ ...stored, purchase: stored.state.purchase }) : [];

/** Records the steps and formats the periods with days instead of dates: `monthly 0-30`. */
const formatPeriods = (steps: readonly Step[]): string[] =>
  listPeriods(runSteps(steps)).map(
    ({ productId, from, until, isTrial }) =>
      `${productId.replace('store_a:', '')}${isTrial ? ' (trial)' : ''} ${toDay(from)}-${until === undefined ? '' : toDay(until)}`,
  );

const paid = (day: number, fields: Partial<Payment> = {}): Payment => ({ day, until: day + 30, ...fields });
const trial: Payment = { day: 0, until: 7, isTrial: true };

describe('listActivePeriods', () => {
  it.each<[string, Step[], string[]]>([
    [
      'one period without an end while it renews',
      [
        [1, [paid(0)]],
        [31, [paid(0), paid(30)]],
      ],
      ['monthly 0-'],
    ],
    [
      'a subscription that is refunded before the period that was paid ahead until its end',
      [
        [1, [paid(0)]],
        [2, [paid(0), paid(30)]],
        [3, [paid(0), paid(30, { refundedOn: 3 })]],
      ],
      ['monthly 0-3'],
    ],
    [
      'an expired subscription until its expiration date',
      [
        [1, [paid(0)]],
        [40, [paid(0)]],
      ],
      ['monthly 0-30'],
    ],
    ['a subscription that was imported after its end', [[900, [paid(0), paid(30)]]], ['monthly 0-60']],
    ['gaps of an imported history', [[900, [paid(0), paid(50)]]], ['monthly 0-30', 'monthly 50-80']],
    [
      'a resubscription apart',
      [
        [1, [paid(0)]],
        [31, [paid(0)]],
        [41, [paid(0), paid(40)]],
      ],
      ['monthly 0-30', 'monthly 40-'],
    ],
    [
      'a late renewal without a gap',
      [
        [31, [paid(0)]],
        [32, [paid(0), paid(30)]],
      ],
      ['monthly 0-'],
    ],
    [
      'a change of product',
      [
        [1, [paid(0)]],
        [10, [paid(0), paid(10, { productId: 'store_a:yearly' })]],
      ],
      ['monthly 0-10', 'yearly 10-'],
    ],
    [
      'a trial apart',
      [
        [1, [trial]],
        [8, [trial, paid(7)]],
      ],
      ['monthly (trial) 0-7', 'monthly 7-'],
    ],
    [
      'a subscription until its refund',
      [
        [1, [paid(0)]],
        [5, [paid(0, { refundedOn: 4 })]],
      ],
      ['monthly 0-4'],
    ],
    [
      'the grace period of an earlier payment',
      [
        [1, [paid(0)]],
        [31, [paid(0)], { expirationDate: toDate(46), isBillingRetryPeriod: true }],
        [36, [paid(0), paid(35)]],
        [66, [paid(0), paid(35), paid(65)]],
      ],
      ['monthly 0-'],
    ],
    [
      'a pause within the paid time',
      [
        [1, [paid(0)]],
        [5, [paid(0)], { isPaused: true }],
        [9, [paid(0)]],
        [31, [paid(0), paid(30)]],
      ],
      ['monthly 0-5', 'monthly 9-'],
    ],
    ['no period of a pending payment', [[1, [paid(0)], { isPending: true }]], []],
    [
      'the earlier product again after the refund of an upgrade',
      [
        [1, [paid(0)]],
        [10, [paid(0), paid(9, { productId: 'store_a:yearly' })]],
        [
          13,
          [paid(0), paid(9, { productId: 'store_a:yearly', refundedOn: 12 })],
          { productId: 'store_a:monthly', transactionId: 'store_a:0', expirationDate: toDate(30), endedAt: undefined },
        ],
      ],
      ['monthly 0-9', 'yearly 9-12', 'monthly 12-'],
    ],
    [
      'one period of renewals that Braintree bills within the day after the period',
      [[61, [paid(0), paid(30.75)], { platform: 'processor_b' }]],
      ['monthly 0-60.75'],
    ],
    [
      'two periods of a renewal that Braintree bills later',
      [[61, [paid(0), paid(31.25)], { platform: 'processor_b' }]],
      ['monthly 0-31', 'monthly 31.25-'],
    ],
  ])('returns %s', (_title, steps, expected) => {
    expect(formatPeriods(steps)).toEqual(expected);
  });

  it('stores nothing for a subscription that has always been active with one product', () => {
    expect(
      runSteps([
        [1, [paid(0)]],
        [31, [paid(0), paid(30)]],
        [90, [paid(0), paid(30)]],
      ]),
    ).not.toHaveProperty('activePeriods');
  });

  it('returns no period of a product that is not a subscription', () => {
    expect(formatPeriods([[1, [paid(0)], { productType: 'consumable' }]])).toEqual([]);
  });
});

describe('listTrials', () => {
  it.each<[string, Step[], object]>([
    ['running', [[1, [trial]]], { startedAt: startDate }],
    [
      'converted',
      [
        [1, [trial]],
        [8, [trial, paid(7)]],
      ],
      { startedAt: startDate, convertedAt: toDate(7) },
    ],
    [
      'ended',
      [
        [1, [trial]],
        [9, [trial]],
      ],
      { startedAt: startDate, endedAt: toDate(7) },
    ],
    [
      'converted by a late payment',
      [
        [9, [trial]],
        [40, [trial, paid(39)]],
      ],
      { startedAt: startDate, convertedAt: toDate(39) },
    ],
    [
      'ended in spite of a payment months later',
      [
        [9, [trial]],
        [99, [trial, paid(98)]],
      ],
      { startedAt: startDate, endedAt: toDate(7) },
    ],
    [
      'interrupted by a pause and goes on',
      [
        [1, [trial], { isPaused: true }],
        [3, [trial]],
      ],
      { startedAt: startDate },
    ],
    [
      'interrupted by a pause and converted',
      [
        [1, [trial], { isPaused: true }],
        [3, [trial]],
        [8, [trial, paid(7)]],
      ],
      { startedAt: startDate, convertedAt: toDate(7) },
    ],
  ])('returns a trial that is %s', (_title, steps, expected) => {
    expect(listTrials(listPeriods(runSteps(steps)))).toEqual([{ productId: 'store_a:monthly', ...expected }]);
  });

  it('returns a second trial, offered to win the customer back after months', () => {
    const stored = runSteps([
      [9, [trial]],
      [99, [trial, { day: 98, until: 105, isTrial: true }]],
    ]);
    expect(listTrials(listPeriods(stored))).toEqual([
      { productId: 'store_a:monthly', startedAt: startDate, endedAt: toDate(7) },
      { productId: 'store_a:monthly', startedAt: toDate(98) },
    ]);
  });
});

const arbitraryPayment = fc.record(
  {
    day: fc.nat(80),
    length: fc.integer({ min: 1, max: 30 }),
    productId: fc.constantFrom('store_a:monthly', 'store_a:yearly'),
    isTrial: fc.boolean(),
    refundAfter: fc.nat(30),
  },
  { requiredKeys: ['day', 'length', 'productId'] },
);
const arbitrarySteps = fc.array(
  fc.record({
    days: fc.integer({ min: 1, max: 20 }),
    payment: fc.option(arbitraryPayment, { nil: undefined }),
    isPaused: fc.boolean(),
    graceDays: fc.constantFrom(0, 0, 16),
  }),
  { minLength: 1, maxLength: 10 },
);

describe('listActivePeriods (any history)', () => {
  it('agrees with the state of the purchase after each update, and keeps the periods in order', () => {
    const property = fc.property(arbitrarySteps, (steps) => {
      let stored: StoredPurchase | undefined;
      let day = 0;
      const payments = new Map<number, Payment>([[0, paid(0)]]);
      for (const { days, payment, isPaused, graceDays } of steps) {
        day += days;
        if (payment && payment.day <= day) {
          const { length, refundAfter, ...rest } = payment;
          const refundedOn = payment.day + (refundAfter ?? 99);
          payments.set(payment.day, {
            ...rest,
            until: payment.day + length,
            ...(refundedOn <= day && { refundedOn }),
          });
        }
        const history = [...payments.values()].sort((a, b) => a.day - b.day);
        const expirationDate = toDate((history.at(-1)?.until ?? 30) + graceDays);
        stored = update(stored, day, buildObservation(day, history, { isPaused, expirationDate }));
        if (!stored) throw new Error('The purchase is not stored.');
        const { purchase } = stored.state;
        const now = stored.checkedAt;
        const periods = listPeriods(stored);
        const isCovered = periods.some(({ from, until = Infinity }) => from <= now && now < until);
        expect(isCovered).toBe(isSubscription(purchase) && isActive(purchase, now));
        for (const [index, { from, until = Infinity }] of periods.entries()) {
          expect(until).toBeGreaterThan(from);
          expect(from).toBeGreaterThanOrEqual(periods[index - 1]?.until ?? -Infinity);
          if (index < periods.length - 1) expect(until).toBeLessThan(Infinity);
        }
        // Neither a repeated observation nor a claim changes the periods.
        const repeated = update(stored, day, buildObservation(day, history, { isPaused, expirationDate }));
        expect(listPeriods(repeated)).toEqual(periods);
      }
    });
    fc.assert(property, sampleRuns({ sample: 100, full: 500 }));
  });
});
