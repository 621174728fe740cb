import { type RevenueSum, toRevenueName } from './counter-names.ts';
import type { Counts } from './counts.ts';
import { type FigureSums, sumCounts, summarizeCounts, sumRange, toRate } from './figure-sums.ts';
import type { CurrencyRevenue, RevenueRow } from './revenue-contract.ts';
import type { MovementContext } from './to-movement.ts';

type RevenueContext = Pick<MovementContext, 'intervals' | 'wholeMonths'>;

/** Summarizes the payments of all intervals. */
export function summarizeRevenue(sums: FigureSums, { intervals, wholeMonths }: RevenueContext) {
  return summarizeCounts(sumCounts(intervals.map(({ first, last }) => sumRange(sums, [first, last], wholeMonths))));
}

/** Builds the payments and refunds of each interval. */
export const buildRevenueRows = (sums: FigureSums, { intervals, wholeMonths }: RevenueContext): RevenueRow[] =>
  intervals.map(({ first, last }) => {
    const counts = sumRange(sums, [first, last], wholeMonths);
    const { grossMicros, refundsMicros, commissionMicros, taxMicros, proceedsMicros } = readRevenue(counts, 'usd');
    return {
      date: first,
      grossUSD: grossMicros / 1_000_000,
      refundsUSD: refundsMicros / 1_000_000,
      commissionUSD: commissionMicros / 1_000_000,
      taxUSD: taxMicros / 1_000_000,
      proceedsUSD: proceedsMicros / 1_000_000,
      unconvertedShare: toRate(counts.unrated ?? 0, counts.paid ?? 0),
      currencies: Object.fromEntries(
        listCurrencies(counts).map((currency) => [currency, readRevenue(counts, currency)]),
      ),
    };
  });

function readRevenue(counts: Counts, unit: string): CurrencyRevenue {
  const read = (sum: RevenueSum): number => counts[toRevenueName(unit, sum)] ?? 0;
  const [grossMicros, refundsMicros, taxMicros] = [read('gross'), read('refunds'), read('tax')];
  const proceedsMicros = read('proceeds');
  const commissionMicros = grossMicros - refundsMicros - taxMicros - proceedsMicros;
  return { grossMicros, refundsMicros, commissionMicros, taxMicros, proceedsMicros };
}

/** Lists the currencies with payments or refunds. */
function listCurrencies(counts: Counts): string[] {
  const names = Object.entries(counts).flatMap(([name, micros]) => (micros === 0 ? [] : [name]));
  return [...new Set(names.flatMap((name) => /^([A-Z]{3})\.[a-z]$/.exec(name)?.[1] ?? []))].sort();
}
