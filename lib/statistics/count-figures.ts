import * as v from 'valibot';
import { toCountry } from '../foundation/country.ts';
import { parse } from '../foundation/parse.ts';
import type { Platform } from '../foundation/platform.ts';
import type { StoredItem } from '../foundation/stream-record.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { toUtcDay } from '../money/daily-rates.ts';
import { isUnconverted } from '../money/usd-amount.ts';
import { isPayment } from '../purchases/paid-periods.ts';
import {
  computeMonthlyAmounts,
  computePaymentAmounts,
  computePeriodAmounts,
  findPeriodTax,
  mapAmounts,
  type PaymentAmounts,
} from '../purchases/payment-amounts.ts';
import { PaymentFigures, type PreviousPeriod } from '../purchases/payment-figures.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import { Transaction } from '../purchases/transaction.ts';
import { findPaidPeriods, findPaymentPeriod, getCohortStart } from './cohort-periods.ts';
import { listRevenue } from './count-revenue.ts';
import type { FiguresDimension, Product } from './counter-key.ts';
import {
  type CohortUnit,
  cohortUnits,
  type FigureAmount,
  getCohortNames,
  type Movement,
  maxCohortPeriods,
  toMovementName,
} from './counter-names.ts';
import { addCounts, type Counts, prefixNames } from './counts.ts';

/** The sums of figures of a day (`YYYY-MM-DD`) or month (`YYYY-MM`) in one dimension. */
export interface FigureCounts {
  readonly figures: FiguresDimension;
  /** Only set for the dimension `product`. */
  readonly product?: Product;
  readonly period: string;
  readonly counts: Counts;
}

const TransactionItem = v.object({ transaction: Transaction, figures: v.exactOptional(PaymentFigures) });
type CountedTransaction = Required<v.InferOutput<typeof TransactionItem>>;

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
export function countFigures({ kind, item }: StoredItem): FigureCounts[] {
  if (kind !== 'transaction' || !('figures' in item)) return [];
  const { transaction, figures } = parse(TransactionItem, item, 'DatabaseError');
  return figures && !transaction.sandbox ? addMonthSums(countTransaction({ transaction, figures })) : [];
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

/** Builds the sums of a segment in each dimension. */
function buildSums(segment: Segment, period: string, counts: Counts): FigureCounts[] {
  const { platform, productId, country } = segment;
  return [
    { figures: 'platforms', period, counts: prefixNames(platform, counts) },
    { figures: 'countries', period, counts: prefixNames(country, counts) },
    { figures: 'product', product: { platform, productId }, period, counts },
  ];
}

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
const negate = (counts: Counts): Counts => addCounts({}, counts, -1);
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
      ? countContinuation({ segment, startAmounts, purchaseDate }, previous)
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
}

/** Takes back the end of the period before, and counts the difference of the amounts. */
function countContinuation(
  { segment, startAmounts, purchaseDate }: PeriodStart,
  { end, productId, country, isInvoluntary, isUnconverted: isBare, ...previous }: PreviousPeriod,
): FigureCounts[] {
  const monthly: PaymentAmounts = previous.monthly ?? startAmounts;
  const before = {
    ...segment,
    ...(productId !== undefined && { productId }),
    ...(country !== undefined && { country }),
  };
  const day = toUtcDay(purchaseDate);
  const change = compareAmounts(monthly, startAmounts);
  const leave = sum(toMovement('down', monthly), { moved: -1 });
  const enter = sum(toMovement('up', startAmounts), { moved: 1 });
  const select = (figures: FiguresDimension, from: Segment, counts: Counts): FigureCounts[] =>
    buildSums(from, day, counts).filter((sums) => sums.figures === figures);
  const move = (figures: FiguresDimension, isMoved: boolean): FigureCounts[] =>
    isMoved
      ? [...select(figures, before, leave), ...select(figures, segment, enter)]
      : select(figures, segment, change);
  return [
    ...buildSums(before, toUtcDay(end), negate(countEnd(monthly, { isInvoluntary, isUnconverted: isBare }))),
    ...(isBare ? buildSums(before, day, { bare: -1 }) : []),
    ...move('platforms', false),
    ...move('product', productId !== undefined),
    ...move('countries', country !== undefined),
  ];
}

/** Counts a higher amount as expansion and a lower one as contraction: each of the amounts separately. */
function compareAmounts(before: PaymentAmounts, after: PaymentAmounts): Counts {
  const up = mapAmounts(after, (amount, index) => Math.max(0, amount - (before[index] ?? 0)));
  const down = mapAmounts(after, (amount, index) => Math.max(0, (before[index] ?? 0) - amount));
  return sum(toMovement('up', up), toMovement('down', down));
}

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
  return buildSums(segment, toUtcMonth(purchaseDate), sum(...counts));
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
    ...buildSums(segment, toUtcMonth(Math.max(purchaseDate, customerSince)), sum(...counts)),
    ...(payerCreatedAt === undefined ? [] : moveCustomer(segment, payerCreatedAt, customerSince)),
  ];
}

const getCustomerNames = (unit: CohortUnit, date: EpochMillis) =>
  getCohortNames('customer', unit, getCohortStart(date, unit));

/**
 * Moves a customer from the cohort in which it was stored to that of an imported payment. Each cohort is counted in a
 * month that it contains.
 */
function moveCustomer(segment: Segment, createdAt: EpochMillis, since: EpochMillis): FigureCounts[] {
  const units = cohortUnits.filter((unit) => getCohortStart(createdAt, unit) !== getCohortStart(since, unit));
  const countAt = (date: EpochMillis, count: 1 | -1): FigureCounts[] => {
    const counts = units.map((unit) => ({ [getCustomerNames(unit, date).moved]: count }));
    // Customers are counted for the whole app only, which is the sum of the platforms.
    return buildSums(segment, toUtcMonth(date), sum(...counts)).filter(({ figures }) => figures === 'platforms');
  };
  return [...countAt(since, 1), ...countAt(createdAt, -1)];
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
    ...days
      .filter(({ period }) => period.length === 'YYYY-MM-DD'.length)
      .map((entry) => ({ ...entry, period: entry.period.slice(0, 7) })),
  ]);

/** Adds up the sums of each counter. Leaves out counters without a sum. */
export function sumFigureCounts(all: readonly FigureCounts[]): FigureCounts[] {
  const sums = new Map<string, FigureCounts>();
  for (const entry of all) {
    const { figures, product, period, counts } = entry;
    const key = JSON.stringify([figures, product?.platform, product?.productId, period]);
    sums.set(key, { ...entry, counts: addCounts(sums.get(key)?.counts ?? {}, counts) });
  }
  return [...sums.values()].filter(({ counts }) => Object.keys(counts).length > 0);
}

export const negateFigureCounts = (entry: FigureCounts): FigureCounts => ({ ...entry, counts: negate(entry.counts) });
