import type { ListKind } from '../foundation/keys.ts';

/*
 * The names of the sums in the counters. They are stored, so they never change: counter-names.test.ts has them. A sum
 * of a platform has its prefix: `store_a/paid`. `<cell>/g.up` is included only in totals that also contain `<cell>`.
 */

/** Rows of the lists that were created in an hour of a day, such as `P.13`, or in a month, `P`: for offset paging. */
const listNames: Readonly<Record<ListKind, string>> = { purchases: 'P', transactions: 'T', customers: 'C' };
export const toMonthRowsName = (list: ListKind): string => listNames[list];
export const toHourRowsName = (list: ListKind, hour: number): string => `${listNames[list]}.${hour}`;
/** Sums of rows of a list that were created in an hour. */
export const isHourRowsName = (name: string): boolean => /^[PTC]\./.test(name);

/** Lifecycle notifications, with separate counts for subscriptions outside the sandbox. */
export const toReasonName = (reason: string): string => `N.${reason}`;
export const toSubscriptionReasonName = (reason: string): string => `NS.${reason}`;

/** Notifications that a store has sent. */
export const toReceivedName = (platform: string): string => `${platform}/received`;
/** The sum counts events, which expire before the counters. */
export const isEventName = (name: string): boolean => name === 'requests' || name.endsWith('/received');

/**
 * Payments of a currency: amount, its value in micros of US dollars, and numbers of transactions, of paid ones and of
 * those without a rate.
 */
export const toCurrencyName = (currency: string, sum: CurrencySum): string => `${currency}.${sum}`;
export type CurrencySum = 'micros' | 'usd' | 'transactions' | 'paid' | 'unrated';

/**
 * The sums of a product or platform without a variable part. `usd` is in micros of US dollars. `unrated` counts
 * payments whose currency lacks a rate. `active`, `activeTrials` and `unverified` are changes: their sum up to a day is
 * the number at the end of the day. `unverified` counts the active subscriptions whose renewal is not verified.
 * `cohort.converted` and `cohort.ended` count trials on the day on which they started.
 */
export type ProductSum =
  | 'transactions'
  | 'paid'
  | 'unrated'
  | 'usd'
  | 'active'
  | 'activeTrials'
  | 'unverified'
  | 'trials.started'
  | 'trials.converted'
  | 'trials.ended'
  | 'cohort.converted'
  | 'cohort.ended';

/** Units of a credit, in separate counters, such as `coins/given`. */
export const creditSums = ['given', 'spent', 'takenBack', 'expired'] as const;
export type CreditSum = (typeof creditSums)[number];
export const toCreditName = (credit: string, sum: CreditSum): string => `${credit}/${sum}`;

/**
 * Movements of the monthly recurring revenue: new, expansion, contraction, reactivated, churned, and the drift of
 * exchange rates, which can be negative.
 *
 * The other sums of movements: `began` (paid first or again), `moved` (from or to another cell), `left` (ended),
 * `failed` (the part of them whose payment failed) and `bare` (change of the number of paying ones whose currency has
 * no rate) count subscriptions. `paid`, `taxed` and `unrated` count payments and periods that a credit pays, those
 * whose proceeds are computed with their tax, and those whose currency lacks a rate. `trials`, `converted` and
 * `unconverted` are read with the cohorts.
 */
export type Movement = 'new' | 'up' | 'down' | 'back' | 'lost' | 'rate';

/**
 * Amounts of figures: before refunds, the refunded part, proceeds, and the proceeds that the store reports. Amounts
 * after refunds are `gross` minus `refunded`, so that payments without refunds need no other sum.
 */
const amountLetters = { gross: 'g', refunded: 'r', proceeds: 'p', reported: 'q' } as const;
export type FigureAmount = keyof typeof amountLetters;

export const toMovementName = (amount: FigureAmount, movement: Movement): string =>
  `${amountLetters[amount]}.${movement}`;

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
const cohortLetters = { subscription: { week: 'w', month: 'm' }, customer: { week: 'v', month: 'c' } } as const;

/** The names of the sums of a cohort, such as `m26-01:a3`. `start` is its first day. */
export function getCohortNames(kind: CohortKind, unit: CohortUnit, start: string) {
  const cohort = `${cohortLetters[kind][unit]}${unit === 'month' ? start.slice(2, 7) : start.slice(2)}`;
  return {
    /** Subscriptions, or customers who have paid. */
    size: `${cohort}:n`,
    /** Customers whose first payment moved them into the cohort, less those moved out of it. */
    moved: `${cohort}:k`,
    /** Change of the number of paying subscriptions at the start of a period. */
    active: (period: number): string => `${cohort}:a${period}`,
    amount: (amount: FigureAmount, period: number): string => `${cohort}:${amountLetters[amount]}${period}`,
  };
}

/**
 * Money of payments and refunds, each on its own day: all in micros of US dollars (`usd.g`), and each currency in
 * its micros (`EUR.g`). Commission is the rest of the payments.
 */
const revenueLetters = { gross: 'g', refunds: 'r', tax: 't', proceeds: 'p', reported: 'q' } as const;
export type RevenueSum = keyof typeof revenueLetters;
export const toRevenueName = (unit: string, sum: RevenueSum): string => `${unit}.${revenueLetters[sum]}`;

/**
 * Payments of the regular price of a product in a country, by currency, length of the period and micros:
 * `EUR@1M@9990000`, and `EUR@@1990000` without a period.
 */
export const toPriceName = (currency: string, period: string, micros: number): string =>
  `${currency}@${period}@${micros}`;

/** Returns the parts of a name of `toPriceName`. Undefined for other sums. */
export function parsePriceName(name: string) {
  const [, currency, period, micros] = /^([A-Z]{3})@(\w*)@(\d+)$/.exec(name) ?? [];
  return currency === undefined || period === undefined ? undefined : { currency, period, micros: Number(micros) };
}
