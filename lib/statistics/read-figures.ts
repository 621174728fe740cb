import pMap from 'p-map';
import * as v from 'valibot';
import { findCatalogue } from '../apps/app-table.ts';
import { type Catalogue, findCatalogueProduct, givesEntitlement, listEntitlements } from '../apps/catalogue.ts';
import { countDaysBetween } from '../foundation/calendar.ts';
import { toCountry } from '../foundation/country.ts';
import { ServiceError } from '../foundation/errors.ts';
import { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { type Product, toCellName } from './counter-key.ts';
import {
  type CounterPeriod,
  type CounterQuery,
  listCountedProducts,
  listCounterDays,
  listCounterMonths,
} from './counter-table.ts';
import { indexByPeriod } from './counts.ts';
import { type FigureSegment, type FigureSums, mergeSums, splitByPrefix } from './figure-sums.ts';
import type { FigureFilters, FiguresDimension } from './figures-contract.ts';

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
  readonly filters: FigureFilters;
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
  /** Whether the sums of cohorts are read. */
  readonly hasCohorts: boolean;
}

interface FigureReadings {
  /** The whole app without filters. */
  readonly app: FigureSums;
  /** What matches the filters. Read once with its groups, so that they add up to it. */
  readonly total: FigureSums;
  /** Undefined with `by=none`. */
  readonly groups: readonly FigureSums[] | undefined;
  readonly products?: { readonly skip: number; readonly limit: number; readonly total: number };
}

type Sums = Omit<FigureSums, 'segment'>;

/** The sums of a product in a country. An empty id, or country: those of all of them, from an earlier release. */
interface Cell extends Sums, Omit<Product, 'platform'> {
  readonly platform: Platform | undefined;
  readonly country: string;
}

/** A row has up to 200 bytes: the response has up to 2 MB. */
const maxRows = 10_000;

/** Number of counters of cells that are read: about 300 bytes each. */
const maxCellPeriods = 100_000;

/** Number of days and months of products on a page, each of which has a counter for each country. */
const maxProductPeriods = 30_000;
const defaultProducts = 100;

/** Number of products whose counters are read concurrently. */
const concurrency = 25;

/**
 * Reads the sums of figures from the counters. By product, it is a page of products by platform and id: as many of the
 * requested ones as the limits allow. Throws `InvalidPayload` for a filter with an unknown value, and if the range has
 * too many rows.
 */
export async function readFigures(
  appName: string,
  { range, by, filters, isSandbox, page, rowsPerGroup, hasCohorts }: FiguresRequest,
  service: Service,
): Promise<FigureReadings> {
  const listPeriods = async (group: CounterQuery) => {
    // The aggregator writes the counters after seconds, so an eventually consistent read is hardly older.
    const query = { ...group, isSandbox, isEventuallyConsistent: true };
    const [months, cohorts, ...days] = await Promise.all([
      range.months[0] <= range.months[1] ? listCounterMonths(service, appName, ...range.months, query) : [],
      hasCohorts && group.figures === 'cells'
        ? listCounterMonths(service, appName, ...range.months, { ...query, figures: 'cohorts' })
        : [],
      ...range.days.map(async (days) => await listCounterDays(service, appName, ...days, query)),
    ]);
    return { months: [...months, ...cohorts], days: days.flat() };
  };
  const checkRows = (groups: readonly FigureSums[]): readonly FigureSums[] => {
    if (groups.length * rowsPerGroup > maxRows) throw tooManyRowsError();
    return groups;
  };
  const platformSums = [...splitByPrefix(indexPeriods(await listPeriods({ figures: 'platforms' })))].map(
    ([platform, sums]) => ({ segment: { platform: v.parse(Platform, platform) }, ...sums }),
  );
  const app = mergeSums({}, platformSums);
  const isFiltered = Object.keys(filters).length > 0;
  if (!isFiltered && by === 'none') return { app, total: app, groups: undefined };
  if (!isFiltered && by === 'platform') return { app, total: app, groups: checkRows(platformSums) };

  const catalogue = await findCatalogue(service, appName);
  const counted = await listCountedProducts(service, appName);
  checkFilters(filters, catalogue, counted);
  const matching = counted.filter(
    ({ platform, productId }) =>
      (filters.platform ?? platform) === platform &&
      (filters.product ?? productId) === productId &&
      (!filters.entitlement || listEntitlements(catalogue, productId).includes(filters.entitlement)),
  );
  const readCells = async (product: Product): Promise<Cell[]> => {
    const [readings, earlier] = await Promise.all([
      listPeriods({ figures: 'cells', product }),
      isFiltered || by === 'country' ? { days: [], months: [] } : listPeriods({ figures: 'product', product }),
    ]);
    const cells = [...splitByCountry(readings), ...listEarlier({ '': indexPeriods(earlier) })];
    return cells.flatMap((cell) =>
      (filters.country ?? cell.country) === cell.country ? [{ ...product, ...cell }] : [],
    );
  };
  const countries =
    isFiltered || by === 'country' ? splitByPrefix(indexPeriods(await listPeriods({ figures: 'countries' }))) : [];
  const earlierCountries = listEarlier(Object.fromEntries(countries));
  if (isFiltered && earlierCountries.length > 0) throw missingCellsError();
  const skip = by === 'product' ? (page.skip ?? page.offset ?? 0) : 0;
  const periodCount = range.days.reduce((sum, days) => sum + countDaysBetween(...days) + 1, 24);
  const maxGroups = Math.min(
    Math.floor(maxRows / Math.max(1, rowsPerGroup)),
    Math.floor(maxProductPeriods / periodCount),
  );
  const limit = by === 'product' ? Math.max(1, Math.min(page.limit ?? defaultProducts, maxGroups)) : matching.length;
  const onPage = matching.slice(skip, skip + limit);
  const read = isFiltered ? matching : onPage;
  let counters = 0;
  const cellsOfProducts = await pMap(
    read,
    async (product) => {
      if (counters > maxCellPeriods) throw tooManyRowsError();
      const cells = await readCells(product);
      counters += cells.reduce((sum, { days, months }) => sum + days.size + months.size, 0);
      return cells;
    },
    { concurrency },
  );
  const cells = [
    ...cellsOfProducts.flat(),
    ...earlierCountries.map((sums) => ({ platform: undefined, productId: '', ...sums })),
  ];
  const sumCells = (segment: FigureSegment, products: readonly Product[], country?: string): FigureSums => {
    const names = new Set(products.map(({ productId }) => toCellName({ productId, country: '' })));
    const isIn = (cellCountry: string): boolean => (country ?? filters.country ?? cellCountry) === cellCountry;
    const ids = new Set(products.map(toText));
    return mergeSums(
      segment,
      cells.filter((cell) => (!cell.platform || ids.has(toText(cell))) && isIn(cell.country)),
      (name) => names.has(name.slice(0, -2)) && isIn(name.slice(-2)),
    );
  };
  // An earlier release has counted each change of the product, or country, of its payments as a move.
  const isExact = isFiltered || (read.length === counted.length && !cells.some(isEarlier));
  const total = isExact ? sumCells({}, matching) : app;
  switch (by) {
    case 'none':
      return { app, total, groups: undefined };
    case 'platform': {
      const platforms = [...new Set(matching.map(({ platform }) => platform))].sort();
      const groups = platforms.map((platform) =>
        sumCells(
          { platform },
          matching.filter((product) => product.platform === platform),
        ),
      );
      return { app, total, groups: checkRows(groups) };
    }
    case 'country': {
      const countries = [...new Set(cells.map(({ country }) => country))].sort();
      return { app, total, groups: checkRows(countries.map((country) => sumCells({ country }, matching, country))) };
    }
    case 'product': {
      const groups = onPage.map((product) => sumCells(product, [product]));
      return { app, total, groups, products: { skip, limit, total: matching.length } };
    }
    case 'entitlement': {
      const list = ({ productId }: Product): readonly string[] => listEntitlements(catalogue, productId);
      const groups = [...new Set(matching.flatMap(list))].sort().map((entitlement) =>
        sumCells(
          { entitlement },
          matching.filter((product) => list(product).includes(entitlement)),
        ),
      );
      return { app, total, groups: checkRows(groups) };
    }
  }
}

const toText = ({ platform, productId }: Pick<Cell, 'platform' | 'productId'>): string => `${platform}\n${productId}`;

type Periods = Readonly<Record<'days' | 'months', readonly CounterPeriod[]>>;

const indexPeriods = ({ days, months }: Periods): Sums => ({
  days: indexByPeriod(days),
  months: indexByPeriod(months),
});

const isEarlier = ({ platform, country }: Pick<Cell, 'platform' | 'country'>): boolean => !platform || country === '';

/** Lists the sums of an earlier release by country: none if all of its payments count in cells by now. */
const listEarlier = (byCountry: Readonly<Record<string, Sums>>): Omit<Cell, keyof Product>[] =>
  Object.entries(byCountry).flatMap(([country, sums]) =>
    [...sums.days.values(), ...sums.months.values()].some((counts) => Object.keys(counts).length > 0)
      ? [{ country, ...sums }]
      : [],
  );

/** Splits the counters of a product by country. A month has a counter of its cohorts, too. */
function splitByCountry({ days, months }: Periods): Omit<Cell, keyof Product>[] {
  const countries = new Set([...days, ...months].map(({ country = '' }) => country));
  return [...countries].map((country) => {
    const isIn = (counter: CounterPeriod): boolean => counter.country === country;
    const byMonth = new Map<string, CounterPeriod['counts']>();
    for (const { period, counts } of months.filter(isIn)) byMonth.set(period, { ...byMonth.get(period), ...counts });
    return { country, days: indexByPeriod(days.filter(isIn)), months: byMonth };
  });
}

/** Throws `InvalidPayload` for a filter with an unknown value: it would count nothing. */
function checkFilters(
  { product, country, entitlement }: FigureFilters,
  catalogue: Catalogue | undefined,
  counted: readonly Product[],
): void {
  const isKnown = {
    product:
      product === undefined ||
      counted.some(({ productId }) => productId === product) ||
      findCatalogueProduct(catalogue, product) !== undefined,
    country: country === undefined || toCountry(country) === country,
    entitlement: entitlement === undefined || givesEntitlement(catalogue, entitlement),
  };
  for (const [name, value] of Object.entries(isKnown))
    if (!value) throw new ServiceError('InvalidPayload', `${name}: expected a known ${name}.`);
}

const missingCellsError = () =>
  new ServiceError(
    'InvalidPayload',
    'Payments of an earlier release are not counted for filters: correct the figures with the command stats recount.',
  );

const tooManyRowsError = () =>
  new ServiceError(
    'InvalidPayload',
    'The date range has too many rows: pass a longer interval, a shorter range or a filter.',
  );
