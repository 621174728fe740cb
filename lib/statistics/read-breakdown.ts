import pMap from 'p-map';
import { addMonths, countDaysBetween } from '../foundation/calendar.ts';
import { ServiceError } from '../foundation/errors.ts';
import { platforms } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { toUtcDay } from '../money/rates.ts';
import type { BreakdownGroup, StatsDimension, StatsInterval } from './breakdown-contract.ts';
import type { Product } from './counter-key.ts';
import { listCountedProducts, listCounterDays, listCounterMonths } from './counter-table.ts';
import { type Counts, indexByPeriod } from './counts.ts';
import { buildBreakdown, listIntervals, pickAppSums, pickPlatformSums, type SumsByPeriod } from './to-breakdown.ts';

interface BreakdownQuery {
  /** `YYYY-MM-DD`, both included. Undefined: the range is empty. */
  readonly days: readonly [first: string, last: string] | undefined;
  readonly interval: StatsInterval;
  readonly by: StatsDimension;
  readonly isSandbox: boolean;
  /** The page of products. */
  readonly page: {
    readonly limit?: number | undefined;
    readonly skip?: number | undefined;
    readonly offset?: number | undefined;
  };
}

interface Breakdown {
  readonly groups: BreakdownGroup[];
  readonly products?: { readonly skip: number; readonly limit: number; readonly total: number };
}

/** A row has about 500 bytes: the response has up to 2.5 MB. */
const maxRows = 5_000;

/**
 * Number of days multiplied by the number of products. A counter of a day has about 300 bytes, so up to 9 MB are read.
 */
const maxProductDays = 30_000;
const defaultProducts = 100;

/** Number of products whose counters are read concurrently. */
const concurrency = 25;

/**
 * Reads the breakdown of a range from the counters. By product, it is a page of products by platform and id: as many of
 * the requested ones as the limits allow. Throws `InvalidPayload` if the range has too many intervals.
 */
export async function readBreakdown(
  service: Service,
  appName: string,
  { days, interval, by, isSandbox, page }: BreakdownQuery,
): Promise<Breakdown> {
  const products = by === 'product' ? await listCountedProducts(service, appName) : [];
  const skip = page.skip ?? page.offset ?? 0;
  if (!days) {
    const limit = page.limit ?? defaultProducts;
    return { groups: [], ...(by === 'product' && { products: { skip, limit, total: products.length } }) };
  }
  const context = { days, intervals: listIntervals(days, interval), today: toUtcDay(service.now()) };
  const readSums = async (product?: Product): Promise<SumsByPeriod> => {
    const month = days[0].slice(0, 7);
    const [daily, monthly] = await Promise.all([
      listCounterDays(service, appName, { days: [`${month}-01`, days[1]], isSandbox, product }),
      listCounterMonths(service, appName, { months: ['', addMonths(month, -1)], isSandbox, product }),
    ]);
    return { days: indexByPeriod(daily), earlierMonths: monthly.map(({ counts }) => counts) };
  };
  if (by === 'product') {
    const limit = limitProducts(page.limit, { intervals: context.intervals.length, days });
    const groups = await pMap(
      products.slice(skip, skip + limit),
      async ({ platform, productId }) => ({
        platform,
        productId,
        ...buildBreakdown(await readSums({ platform, productId }), context),
      }),
      { concurrency },
    );
    return { groups, products: { skip, limit, total: products.length } };
  }
  const sums = await readSums();
  if (by === 'none') return { groups: [buildBreakdown(mapSums(sums, pickAppSums), context)] };
  if (context.intervals.length * platforms.length > maxRows)
    throw new ServiceError('InvalidPayload', 'The date range has too many intervals: pass interval=week or month.');
  const groups = platforms.flatMap((platform) => {
    const platformSums = mapSums(sums, (counts) => pickPlatformSums(counts, platform));
    return hasSums(platformSums) ? [{ platform, ...buildBreakdown(platformSums, context) }] : [];
  });
  return { groups };
}

const limitProducts = (
  requested = defaultProducts,
  { intervals, days }: { readonly intervals: number; readonly days: readonly [string, string] },
): number => {
  const dayCount = countDaysBetween(...days) + 1;
  return Math.max(1, Math.min(requested, Math.floor(maxRows / intervals), Math.floor(maxProductDays / dayCount)));
};

const mapSums = ({ days, earlierMonths }: SumsByPeriod, pick: (counts: Counts) => Counts): SumsByPeriod => ({
  days: new Map([...days].map(([day, counts]) => [day, pick(counts)])),
  earlierMonths: earlierMonths.map(pick),
});

const hasSums = ({ days, earlierMonths }: SumsByPeriod): boolean =>
  [...days.values(), ...earlierMonths].some((counts) => Object.keys(counts).length > 0);
