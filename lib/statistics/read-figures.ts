import pMap from 'p-map';
import * as v from 'valibot';
import { findCatalogue } from '../apps/app-table.ts';
import { listEntitlements } from '../apps/catalogue.ts';
import { countDaysBetween } from '../foundation/calendar.ts';
import { ServiceError } from '../foundation/errors.ts';
import { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { Product } from './counter-key.ts';
import { type CounterQuery, listCountedProducts, listCounterDays, listCounterMonths } from './counter-table.ts';
import { indexByPeriod } from './counts.ts';
import { type FigureSums, mergeSums, splitByPrefix } from './figure-sums.ts';
import type { FiguresDimension } from './figures-contract.ts';

/** First and last day or month, both included. */
type Range = readonly [first: string, last: string];

/** Days and months to read. */
export interface FigureRange {
  readonly days: readonly Range[];
  readonly months: Range;
}

interface FiguresRequest {
  readonly range: FigureRange;
  readonly by: FiguresDimension;
  /** Whether only purchases of the sandbox are counted. */
  readonly isSandbox: boolean;
  /** The page of products, with `by=product`. */
  readonly page: {
    readonly limit?: number | undefined;
    readonly skip?: number | undefined;
    readonly offset?: number | undefined;
  };
  /** Number of rows of each group in the response. */
  readonly rowsPerGroup: number;
  /** Names of the sums of a product that the figures need. Default: all. */
  readonly names?: readonly string[];
}

interface FigureReadings {
  /** The whole app. */
  readonly total: FigureSums;
  /** Undefined with `by=none`. */
  readonly groups: readonly FigureSums[] | undefined;
  readonly products?: { readonly skip: number; readonly limit: number; readonly total: number };
}

/** A row has up to 200 bytes: the response has up to 2 MB. */
const maxRows = 10_000;

/** Number of counters of products that are read: about 300 bytes each. */
const maxProductPeriods = 30_000;
const defaultProducts = 100;

/** Number of products whose counters are read concurrently. */
const concurrency = 25;

/**
 * Reads the sums of figures from the counters. By product, it is a page of products by platform and id: as many of the
 * requested ones as the limits allow. Throws `InvalidPayload` if the range has too many rows.
 */
export async function readFigures(
  appName: string,
  { range, by, isSandbox, page, rowsPerGroup, names }: FiguresRequest,
  service: Service,
): Promise<FigureReadings> {
  // The aggregator writes the counters after seconds, so an eventually consistent read is hardly older.
  const readGroup = async (group: CounterQuery): Promise<Omit<FigureSums, 'segment'>> => {
    const query = { ...group, isSandbox, isEventuallyConsistent: true };
    const [months, ...days] = await Promise.all([
      range.months[0] <= range.months[1] ? listCounterMonths(service, appName, ...range.months, query) : [],
      ...range.days.map(async (days) => await listCounterDays(service, appName, ...days, query)),
    ]);
    return { days: indexByPeriod(days.flat()), months: indexByPeriod(months) };
  };
  const readProducts = async (products: readonly Product[]): Promise<FigureSums[]> =>
    await pMap(
      products,
      async (product) => ({ segment: product, ...(await readGroup({ product, figures: 'product', names })) }),
      { concurrency },
    );
  const platformSums = [...splitByPrefix(await readGroup({ figures: 'platforms' }))].map(([platform, sums]) => ({
    segment: { platform: v.parse(Platform, platform) },
    ...sums,
  }));
  const total = mergeSums({}, platformSums);
  const checkRows = (groups: readonly FigureSums[]): readonly FigureSums[] => {
    if (groups.length * rowsPerGroup > maxRows) throw tooManyRowsError();
    return groups;
  };
  const periodCount = range.days.reduce((sum, days) => sum + countDaysBetween(...days) + 1, 24);
  switch (by) {
    case 'none':
      return { total, groups: undefined };
    case 'platform':
      return { total, groups: checkRows(platformSums) };
    case 'country': {
      const sums = splitByPrefix(await readGroup({ figures: 'countries' }));
      return { total, groups: checkRows([...sums].map(([country, part]) => ({ segment: { country }, ...part }))) };
    }
    case 'product': {
      const products = await listCountedProducts(service, appName);
      const skip = page.skip ?? page.offset ?? 0;
      const maxGroups = Math.min(
        Math.floor(maxRows / Math.max(1, rowsPerGroup)),
        Math.floor(maxProductPeriods / periodCount),
      );
      const limit = Math.max(1, Math.min(page.limit ?? defaultProducts, maxGroups));
      const groups = await readProducts(products.slice(skip, skip + limit));
      return { total, groups, products: { skip, limit, total: products.length } };
    }
    case 'entitlement': {
      const catalogue = await findCatalogue(service, appName);
      const products = (await listCountedProducts(service, appName)).filter(
        ({ productId }) => listEntitlements(catalogue, productId).length > 0,
      );
      if (products.length * periodCount > maxProductPeriods) throw tooManyRowsError();
      const sums = await readProducts(products);
      const names = [...new Set(products.flatMap(({ productId }) => listEntitlements(catalogue, productId)))].sort();
      const groups = names.map((entitlement) => {
        const parts = sums.filter(({ segment }) =>
          listEntitlements(catalogue, segment.productId ?? '').includes(entitlement),
        );
        return mergeSums({ entitlement }, parts);
      });
      return { total, groups: checkRows(groups) };
    }
  }
}

const tooManyRowsError = () =>
  new ServiceError('InvalidPayload', 'The date range has too many rows: pass a longer interval or a shorter range.');
