/**
 * Names of the sums of a day. A month has the sums of its days, and the sums of cohorts.
 *
 * Movements of the monthly recurring revenue: new, expansion, contraction, reactivated, churned. Sums have the prefix
 * of an amount: see `amountPrefixes`. The other sums count subscriptions: `began` (paid first or again),
 * `moved` (from or to another product or country), `left` (ended), `failed` (the part of them whose payment failed),
 * `bare` (change of the number of paying ones whose currency has no rate), `trials`, `converted` and `unconverted`.
 * `paymentNames` count payments.
 */
const movements = ['new', 'up', 'down', 'back', 'lost'] as const;
export type Movement = (typeof movements)[number];

/**
 * Amounts that are stored: `g` before refunds, `r` the refunded part, `p` proceeds, `q` the proceeds that the store
 * reports. Amounts after refunds are `g` minus `r`, so that payments without refunds need no other sum.
 */
const amountPrefixes = ['g', 'r', 'p', 'q'] as const;
export type AmountPrefix = (typeof amountPrefixes)[number];

/**
 * Payments and periods that a credit pays, those whose proceeds are computed with their tax, and those whose currency
 * has no rate.
 */
const paymentNames = ['paid', 'taxed', 'unrated'] as const;

/** Names of the sums of movements and of subscriptions. The sums of cohorts are the most of a month. */
export const movementNames: readonly string[] = [
  ...amountPrefixes.flatMap((prefix) => movements.map((movement) => `${prefix}.${movement}`)),
  ...['began', 'moved', 'left', 'failed', 'bare'],
  ...paymentNames,
];

/** Units of cohorts and of their periods. */
export const cohortUnits = ['week', 'month'] as const;
export type CohortUnit = (typeof cohortUnits)[number];

/**
 * Maximum number of periods of a cohort that are counted: five years, or half a year of weeks. Later periods would make
 * the counters grow.
 */
export const maxCohortPeriods: Readonly<Record<CohortUnit, number>> = { month: 60, week: 26 };

/** Kinds of cohorts: subscriptions by first paid period, customers by the time since when they are known. */
type CohortKind = 'subscription' | 'customer';
const kindLetters = { subscription: { week: 'w', month: 'm' }, customer: { week: 'v', month: 'c' } } as const;

/** Builds the prefix of the sums of a cohort: `m2026-01:` or `w2026-01-05:`. `start` is its first day. */
export const buildCohortPrefix = (kind: CohortKind, unit: CohortUnit, start: string): string =>
  `${kindLetters[kind][unit]}${unit === 'month' ? start.slice(2, 7) : start.slice(2)}:`;
