import { isDay } from '../foundation/calendar.ts';
import { toCountry } from '../foundation/country.ts';
import type { Platform } from '../foundation/platform.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';
import { isUnconverted } from '../money/usd-conversion.ts';
import { isPayment } from '../purchases/paid-periods.ts';
import {
  computeExchange,
  computeMonthlyAmounts,
  computePaymentAmounts,
  computePeriodAmounts,
  findPeriodTax,
  mapAmounts,
  type PaymentAmounts,
} from '../purchases/payment-amounts.ts';
import type { PaymentFigures, PreviousPeriod } from '../purchases/payment-figures.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { findPaidPeriods, findPaymentPeriod, getCohortStart } from './cohort-periods.ts';
import { countPrice } from './count-price.ts';
import { listRevenue } from './count-revenue.ts';
import { type CounterKind, type Product, toCellName } from './counter-key.ts';
import {
  type CohortUnit,
  cohortUnits,
  type FigureAmount,
  getCohortNames,
  type Movement,
  maxCohortPeriods,
  toMovementName,
} from './counter-names.ts';
import { addCounts, type Counts, listMergedSums, negateCounts, prefixNames } from './counts.ts';

/** The sums of figures of a day (`YYYY-MM-DD`) or month (`YYYY-MM`) in one dimension. */
export interface FigureCounts {
  readonly kind: CounterKind;
  /** Only set for a cell. */
  readonly product?: Product;
  readonly country?: string;
  readonly period: string;
  readonly counts: Counts;
}

interface CountedTransaction {
  readonly transaction: Transaction;
  readonly figures: PaymentFigures;
}

/** Product and country that a sum belongs to. */
interface Segment {
  readonly platform: Platform;
  readonly productId: string;
  readonly country: string;
}

/**
 * Returns the contribution of a transaction to the figures. Depends only on the item: the end of a paid period counts
 * on its day, also in the future, and the next period takes it back.
 */
export function countFigures(transaction: Transaction, figures: PaymentFigures | undefined): FigureCounts[] {
  if (!figures || transaction.sandbox) return [];
  const counts = addMonthSums(countTransaction({ transaction, figures }));
  return figures.isByCell ? counts : sumFigureCounts(counts.flatMap(toEarlierCounts));
}

/** Converts the sums of a cell to those that an earlier release counted, until the payment counts in cells. */
function toEarlierCounts(entry: FigureCounts): FigureCounts[] {
  const { product, country, period, counts } = entry;
  if (!product || country === undefined) return [entry];
  const cell = toCellName({ ...product, country });
  const [ownProduct, ownCountry] = [cell.slice(0, -2), cell.slice(-2)];
  const merge = (isMerged: (name: string) => boolean): Counts =>
    listMergedSums(counts, isMerged).reduce<Counts>((sums, [name, value]) => addCounts(sums, { [name]: value }), {});
  return [
    { kind: 'product', product, period, counts: merge((name) => name.startsWith(ownProduct)) },
    {
      kind: 'countries',
      period,
      counts: prefixNames(
        country,
        merge((name) => name.endsWith(ownCountry)),
      ),
    },
  ];
}

function countTransaction(counted: CountedTransaction): FigureCounts[] {
  const { transaction, figures } = counted;
  const isPeriod = figures.end !== undefined;
  return [
    ...(isPeriod
      ? [...countPeriod(counted), ...countSubscriptionCohort(counted), ...countConversion(counted)]
      : countTrialStart(counted)),
    ...(isPayment(transaction) ? countCustomerCohort(counted) : []),
    ...(isPeriod || isPayment(transaction) ? countPayment(transaction) : []),
    buildCellSums(getSegment(transaction), toUtcDay(transaction.purchaseDate), countPrice(transaction, figures)),
    ...listRevenue(transaction, figures).flatMap(([date, counts]) =>
      buildSums(getSegment(transaction), toUtcDay(date), counts),
    ),
  ];
}

/**
 * Counts a payment, or a period that a credit pays, on its day, and whether its amounts in US dollars are known after
 * tax.
 */
function countPayment(transaction: Transaction): FigureCounts[] {
  const hasTax = findPeriodTax(transaction) !== undefined && transaction.storeProceedsMicros === undefined;
  return buildSums(getSegment(transaction), toUtcDay(transaction.purchaseDate), {
    paid: 1,
    ...(hasTax && { taxed: 1 }),
    ...(isUnconverted(transaction) && { unrated: 1 }),
  });
}

const getSegment = ({ platform, productId, storefront }: Transaction): Segment => ({
  platform,
  productId,
  country: toCountry(storefront),
});

const buildPlatformSums = ({ platform }: Segment, period: string, counts: Counts): FigureCounts => ({
  kind: 'platforms',
  period,
  counts: prefixNames(platform, counts),
});

const buildCellSums = (
  { platform, productId, country }: Segment,
  period: string,
  counts: Counts,
  kind: 'cells' | 'cohorts' = 'cells',
): FigureCounts => ({ kind, product: { platform, productId }, country, period, counts });

/** Builds the sums of a segment in each dimension. */
const buildSums = (segment: Segment, period: string, counts: Counts): FigureCounts[] => [
  buildPlatformSums(segment, period, counts),
  buildCellSums(segment, period, counts),
];

/**
 * Builds the sums of cohorts. The sums of a cell have a separate counter: they are most of its sums, and the figures
 * by interval read all earlier months without them.
 */
const buildCohortSums = (segment: Segment, month: string, counts: Counts): FigureCounts[] => [
  buildPlatformSums(segment, month, counts),
  buildCellSums(segment, month, counts, 'cohorts'),
];

/** Returns the amounts as sums without zeros. */
const toAmountCounts = (toName: (amount: FigureAmount) => string, amounts: PaymentAmounts): Counts => {
  const [gross, net, proceeds, reported] = amounts;
  const sums = { gross, refunded: gross - net, proceeds, reported };
  const names = Object.keys(sums) as FigureAmount[];
  return addCounts({}, Object.fromEntries(names.map((amount) => [toName(amount), sums[amount]])));
};

const toUtcMonth = (date: EpochMillis): string => toUtcDay(date).slice(0, 7);
const toMovement = (name: Movement, amounts: PaymentAmounts): Counts =>
  toAmountCounts((amount) => toMovementName(amount, name), amounts);
const sum = (...all: readonly Counts[]): Counts => all.reduce((total, counts) => addCounts(total, counts), {});

/** Stores renew up to minutes after the end of a period. */
const maxGapMs = hourMs;

/** Counts the start, the partial refunds and the end of a paid period. */
function countPeriod({ transaction, figures }: CountedTransaction): FigureCounts[] {
  const { purchaseDate } = transaction;
  const { end = purchaseDate, countedEnd = end, share, previous, isInvoluntary } = figures;
  const segment = getSegment(transaction);
  const startAmounts = computeMonthlyAmounts(transaction, share, purchaseDate);
  const isContinued = previous !== undefined && purchaseDate - previous.end <= maxGapMs;
  const isBare = isUnconverted(transaction);
  const endCounts = countEnd(computePeriodAmounts(transaction, figures, end), { isInvoluntary, isUnconverted: isBare });
  return [
    ...(isContinued
      ? countContinuation(
          { segment, startAmounts, purchaseDate, exchange: computeExchange(transaction, figures) },
          previous,
        )
      : buildSums(
          segment,
          toUtcDay(purchaseDate),
          sum(toMovement(previous ? 'back' : 'new', startAmounts), { began: 1 }),
        )),
    ...countPartialRefunds({ transaction, figures }, end),
    ...(isBare ? buildSums(segment, toUtcDay(purchaseDate), { bare: 1 }) : []),
    ...buildSums(segment, toUtcDay(countedEnd), endCounts),
  ];
}

type EndFlags = Pick<PreviousPeriod, 'isInvoluntary' | 'isUnconverted'>;

const countEnd = (amounts: PaymentAmounts, flags: { readonly [K in keyof EndFlags]: boolean | undefined }): Counts =>
  sum(toMovement('lost', amounts), {
    left: 1,
    ...(flags.isInvoluntary && { failed: 1 }),
    ...(flags.isUnconverted && { bare: -1 }),
  });

interface PeriodStart {
  readonly segment: Segment;
  readonly startAmounts: PaymentAmounts;
  readonly purchaseDate: EpochMillis;
  /** Part of the change of the amounts that the exchange rate makes. */
  readonly exchange: PaymentAmounts;
}

/**
 * Takes back the end of the period before, and counts the difference of the amounts. A move to another cell counts as
 * contraction of the one before and as expansion of this one. In a total over both cells, the sums with the name of
 * the former cell replace the move, so the figures of any set of cells are exact.
 */
function countContinuation(
  { segment, startAmounts, purchaseDate, exchange }: PeriodStart,
  { end, productId, country, isInvoluntary, isUnconverted: isBare, ...previous }: PreviousPeriod,
): FigureCounts[] {
  const monthly: PaymentAmounts = previous.monthly ?? startAmounts;
  const before = {
    ...segment,
    ...(productId !== undefined && { productId }),
    ...(country !== undefined && { country }),
  };
  const day = toUtcDay(purchaseDate);
  const change = compareAmounts(monthly, startAmounts, exchange);
  const leave = sum(toMovement('down', monthly), { moved: -1 });
  const enter = sum(toMovement('up', startAmounts), { moved: 1 });
  const isMoved = productId !== undefined || country !== undefined;
  const inBoth = addCounts(change, sum(leave, enter), -1);
  return [
    ...buildSums(before, toUtcDay(end), negateCounts(countEnd(monthly, { isInvoluntary, isUnconverted: isBare }))),
    ...(isBare ? buildSums(before, day, { bare: -1 }) : []),
    buildPlatformSums(segment, day, change),
    ...(isMoved ? [buildCellSums(before, day, leave)] : []),
    buildCellSums(segment, day, isMoved ? sum(enter, prefixNames(toCellName(before), inBoth)) : change),
  ];
}

/** Counts a higher amount as expansion and a lower one as contraction, without exchange: each amount separately. */
function compareAmounts(before: PaymentAmounts, after: PaymentAmounts, exchange: PaymentAmounts = noAmounts): Counts {
  const change = mapAmounts(after, (amount, index) => amount - (before[index] ?? 0) - (exchange[index] ?? 0));
  return sum(
    toMovement(
      'up',
      mapAmounts(change, (amount) => Math.max(0, amount)),
    ),
    toMovement(
      'down',
      mapAmounts(change, (amount) => Math.max(0, -amount)),
    ),
    toMovement('rate', exchange),
  );
}

const noAmounts: PaymentAmounts = [0, 0, 0, 0];

/** Counts each refund of a part within the period as contraction. */
function countPartialRefunds({ transaction, figures }: CountedTransaction, end: EpochMillis): FigureCounts[] {
  const { purchaseDate } = transaction;
  const dates = listRefundedAmounts(transaction).map(({ date }) => date);
  return [...new Set(dates)]
    .filter((date) => date >= purchaseDate && date < end)
    .flatMap((date) => {
      const before = computePeriodAmounts(transaction, figures, date);
      const after = computePeriodAmounts(transaction, figures, date + 1);
      return buildSums(getSegment(transaction), toUtcDay(date), compareAmounts(before, after));
    });
}

/** Counts the periods that a payment makes active, and its amounts, in the cohort of its subscription. */
function countSubscriptionCohort({ transaction, figures }: CountedTransaction): FigureCounts[] {
  const { purchaseDate, platform, productId } = transaction;
  const { firstPaidAt = purchaseDate, firstProductId = productId, firstCountry, end = purchaseDate } = figures;
  const segment = { platform, productId: firstProductId, country: firstCountry ?? toCountry(transaction.storefront) };
  const amounts = computePaymentAmounts(transaction, figures.share);
  const counts = cohortUnits.map((unit) => {
    const names = getCohortNames('subscription', unit, getCohortStart(firstPaidAt, unit));
    const paid = findPaidPeriods(firstPaidAt, { from: purchaseDate, until: end, unit });
    const isIn = (index: number): boolean => index <= maxCohortPeriods[unit];
    const index = findPaymentPeriod(firstPaidAt, purchaseDate, unit);
    return sum(
      figures.firstPaidAt === undefined ? { [names.size]: 1 } : {},
      paid && isIn(paid.first) ? { [names.active(paid.first)]: 1 } : {},
      paid && isIn(paid.end) ? { [names.active(paid.end)]: -1 } : {},
      isIn(index) ? toCohortAmounts(names, index, amounts) : {},
    );
  });
  return buildCohortSums(segment, toUtcMonth(purchaseDate), sum(...counts));
}

const toCohortAmounts = (names: ReturnType<typeof getCohortNames>, period: number, amounts: PaymentAmounts): Counts =>
  toAmountCounts((amount) => names.amount(amount, period), amounts);

/** Counts the amounts of a payment by the age of its customer, and the customer as a payer with the first payment. */
function countCustomerCohort({ transaction, figures }: CountedTransaction): FigureCounts[] {
  const { customerSince, payerCreatedAt, share } = figures;
  if (customerSince === undefined) return [];
  const { purchaseDate } = transaction;
  const age = findAge(customerSince, purchaseDate);
  const amounts = computePaymentAmounts(transaction, share);
  const isCounted = age <= maxCohortPeriods.month;
  const counts = cohortUnits.map((unit) => {
    const names = getCustomerNames(unit, customerSince);
    return sum(
      isCounted ? toCohortAmounts(names, age, amounts) : {},
      payerCreatedAt === undefined ? {} : { [names.size]: 1 },
    );
  });
  const segment = getSegment(transaction);
  return [
    // The months before a cohort are not read: an import can add a payment from before the customer's cohort.
    ...buildCohortSums(segment, toUtcMonth(Math.max(purchaseDate, customerSince)), sum(...counts)),
    ...(payerCreatedAt === undefined ? [] : moveCustomer(segment, payerCreatedAt, customerSince)),
  ];
}

const getCustomerNames = (unit: CohortUnit, date: EpochMillis) =>
  getCohortNames('customer', unit, getCohortStart(date, unit));

/**
 * Moves a customer from the cohort in which it was stored to the cohort of an imported payment. Each cohort is counted
 * in a month that it contains.
 */
function moveCustomer(segment: Segment, createdAt: EpochMillis, since: EpochMillis): FigureCounts[] {
  const units = cohortUnits.filter((unit) => getCohortStart(createdAt, unit) !== getCohortStart(since, unit));
  // Customers are counted for the whole app only, which is the sum of the platforms.
  const countAt = (date: EpochMillis, count: 1 | -1): FigureCounts => {
    const counts = units.map((unit) => ({ [getCustomerNames(unit, date).moved]: count }));
    return buildPlatformSums(segment, toUtcMonth(date), sum(...counts));
  };
  return [countAt(since, 1), countAt(createdAt, -1)];
}

/** Returns the complete months since the customer is known. */
function findAge(customerSince: EpochMillis, paidAt: EpochMillis): number {
  if (paidAt <= customerSince) return 0;
  return findPaymentPeriod(customerSince, paidAt - 3 * dayMs, 'month');
}

/** Counts a trial on its first day. */
function countTrialStart({ transaction, figures: { trialAt } }: CountedTransaction): FigureCounts[] {
  return trialAt === undefined ? [] : buildSums(getSegment(transaction), toUtcDay(trialAt), { trials: 1 });
}

/** Counts the payment after a trial on the day of the trial. A payment that is refunded in full does not count. */
function countConversion({ transaction, figures: { trialAt } }: CountedTransaction): FigureCounts[] {
  if (trialAt === undefined) return [];
  const isRefunded = transaction.refundedAt !== undefined;
  return buildSums(getSegment(transaction), toUtcDay(trialAt), { converted: 1, ...(isRefunded && { unconverted: 1 }) });
}

/** Adds the sums of each day to its month. */
const addMonthSums = (days: readonly FigureCounts[]): FigureCounts[] =>
  sumFigureCounts([
    ...days,
    ...days.filter(({ period }) => isDay(period)).map((entry) => ({ ...entry, period: entry.period.slice(0, 7) })),
  ]);

/** Adds up the sums of each counter. Leaves out counters without a sum. */
export function sumFigureCounts(all: readonly FigureCounts[]): FigureCounts[] {
  const sums = new Map<string, FigureCounts>();
  for (const entry of all) {
    const { kind, product, country, period, counts } = entry;
    const key = JSON.stringify([kind, product?.platform, product?.productId, country, period]);
    sums.set(key, { ...entry, counts: addCounts(sums.get(key)?.counts ?? {}, counts) });
  }
  return [...sums.values()].filter(({ counts }) => Object.keys(counts).length > 0);
}

export const negateFigureCounts = (entry: FigureCounts): FigureCounts => ({
  ...entry,
  counts: negateCounts(entry.counts),
});
