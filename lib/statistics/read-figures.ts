import pMap from 'p-map';
import * as v from 'valibot';
import { type Catalogue, findCatalogueProduct, givesEntitlement, listEntitlements } from '../apps/catalogue.ts';
import { findCatalogue } from '../apps/catalogue-table.ts';
import { countDaysBetween } from '../foundation/calendar.ts';
import { groupBy } from '../foundation/collections.ts';
import { toCountry } from '../foundation/country.ts';
import { ServiceError } from '../foundation/errors.ts';
import { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { Product } from './counter-key.ts';
import { type CounterQuery, listCountedProducts, listCounterDays, listCounterMonths } from './counter-table.ts';
import { indexByPeriod } from './counts.ts';
import { readEarlierCells } from './earlier-cells.ts';
import { buildCells, type Cell, type PeriodSums, sumCells } from './figure-cells.ts';
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
  readonly isSandbox: boolean;
  /** The page of products, with `by=product`. */
  readonly page: {
    readonly limit?: number | undefined;
    readonly skip?: number | undefined;
    readonly offset?: number | undefined;
  };
  /** Number of rows of each group in the response. */
  readonly rowsPerGroup: number;
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
  service: Service,
  appName: string,
  { range, by, filters, isSandbox, page, rowsPerGroup, hasCohorts }: FiguresRequest,
): Promise<FigureReadings> {
  // The aggregator writes the counters after seconds, so an eventually consistent read is hardly older.
  const options = { isSandbox, isEventuallyConsistent: true };
  const listMonths = async (group: CounterQuery) =>
    range.months[0] <= range.months[1]
      ? await listCounterMonths(service, appName, { months: range.months, ...group, ...options })
      : [];
  const listDays = async (group: CounterQuery) => {
    const query = { ...group, ...options };
    const days = range.days.map(async (days) => await listCounterDays(service, appName, { days, ...query }));
    return (await Promise.all(days)).flat();
  };
  const readSums = async (group: CounterQuery): Promise<PeriodSums> => {
    const [days, months] = await Promise.all([listDays(group), listMonths(group)]);
    return { days: indexByPeriod(days), months: indexByPeriod(months) };
  };
  const readCells = async (product: Product): Promise<Cell[]> => {
    const [days, months, cohorts] = await Promise.all([
      listDays({ kind: 'cells', product }),
      listMonths({ kind: 'cells', product }),
      hasCohorts ? listMonths({ kind: 'cohorts', product }) : [],
    ]);
    const cells = buildCells(product, days, [...months, ...cohorts]);
    return cells.filter(({ country }) => (filters.country ?? country) === country);
  };
  const checkRows = (groups: readonly FigureSums[] = []): void => {
    if (groups.length * rowsPerGroup > maxRows) throw tooManyRowsError();
  };
  const platforms = [...splitByPrefix(await readSums({ kind: 'platforms' }))].map(([platform, sums]) => ({
    segment: { platform: v.parse(Platform, platform) },
    ...sums,
  }));
  const app = mergeSums({}, platforms);
  const isFiltered = Object.keys(filters).length > 0;
  if (!isFiltered && by === 'none') return { app, total: app, groups: undefined };
  if (!isFiltered && by === 'platform') {
    checkRows(platforms);
    return { app, total: app, groups: platforms };
  }

  const catalogue = await findCatalogue(service, appName);
  const counted = await listCountedProducts(service, appName);
  checkFilters(filters, catalogue, counted);
  const matching = selectProducts(counted, filters, catalogue);
  const products = by === 'product' ? choosePage(page, { range, rowsPerGroup, total: matching.length }) : undefined;
  const onPage = products ? matching.slice(products.skip, products.skip + products.limit) : matching;
  const readProducts = isFiltered ? matching : onPage;
  const [cells, earlier] = await Promise.all([
    readLimited(readProducts, readCells),
    readEarlierCells(readSums, onPage, { isByCountry: by === 'country', isFiltered }),
  ]);
  // An earlier release has counted each change of the product, or country, of its payments as a move.
  const isExact = isFiltered || (readProducts.length === counted.length && earlier.length === 0);
  const total = isExact ? sumCells({}, cells, { products: matching, country: filters.country }) : app;
  const groups = sumGroups([...cells, ...earlier], { by, products: onPage, filters, catalogue });
  if (products) return { app, total, groups, products };
  checkRows(groups);
  return { app, total, groups };
}

const selectProducts = (counted: readonly Product[], filters: FigureFilters, catalogue: Catalogue | undefined) =>
  counted.filter(
    ({ platform, productId }) =>
      (filters.platform ?? platform) === platform &&
      (filters.product ?? productId) === productId &&
      (!filters.entitlement || listEntitlements(catalogue, productId).includes(filters.entitlement)),
  );

/** Chooses as many of the requested products as the limits allow. */
function choosePage(
  page: FiguresRequest['page'],
  { range, rowsPerGroup, total }: Pick<FiguresRequest, 'range' | 'rowsPerGroup'> & { readonly total: number },
) {
  const periodCount = range.days.reduce((sum, days) => sum + countDaysBetween(...days) + 1, 24);
  const maxProducts = Math.min(
    Math.floor(maxRows / Math.max(1, rowsPerGroup)),
    Math.floor(maxProductPeriods / periodCount),
  );
  const limit = Math.max(1, Math.min(page.limit ?? defaultProducts, maxProducts));
  return { skip: page.skip ?? page.offset ?? 0, limit, total };
}

/** Reads the cells of products. Throws `InvalidPayload` if there are too many counters. */
async function readLimited(products: readonly Product[], readCells: (product: Product) => Promise<Cell[]>) {
  let counters = 0;
  const cells = await pMap(
    products,
    async (product) => {
      if (counters > maxCellPeriods) throw tooManyRowsError();
      const cells = await readCells(product);
      counters += cells.reduce((sum, { days, months }) => sum + days.size + months.size, 0);
      return cells;
    },
    { concurrency },
  );
  return cells.flat();
}

/** Adds up the cells of each group. Undefined with `by=none`. */
function sumGroups(
  cells: readonly Cell[],
  {
    by,
    products,
    filters,
    catalogue,
  }: Pick<FiguresRequest, 'by' | 'filters'> & {
    readonly products: readonly Product[];
    readonly catalogue: Catalogue | undefined;
  },
): FigureSums[] | undefined {
  if (by === 'none') return undefined;
  if (by === 'country')
    return [...groupBy(cells, ({ country }) => country)]
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
      .map(([country = '', group]) => sumCells({ country }, group, { products, country }));
  const byProduct = groupBy(cells, ({ product }) => product);
  const sumProducts = (segment: FigureSegment, group: readonly Product[]): FigureSums => {
    const cellsOfGroup = group.flatMap((product) => byProduct.get(product) ?? []);
    return sumCells(segment, cellsOfGroup, { products: group, country: filters.country });
  };
  const sumValues = <Value extends string>(
    list: (product: Product) => readonly Value[],
    toSegment: (value: Value) => FigureSegment,
  ): FigureSums[] =>
    [...new Set(products.flatMap(list))].sort().map((value) =>
      sumProducts(
        toSegment(value),
        products.filter((product) => list(product).includes(value)),
      ),
    );
  switch (by) {
    case 'platform':
      return sumValues(
        ({ platform }) => [platform],
        (platform) => ({ platform }),
      );
    case 'product':
      return products.map((product) => sumProducts(product, [product]));
    case 'entitlement':
      return sumValues(
        ({ productId }) => listEntitlements(catalogue, productId),
        (entitlement) => ({ entitlement }),
      );
  }
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

const tooManyRowsError = () =>
  new ServiceError(
    'InvalidPayload',
    'The date range has too many rows: pass a longer interval, a shorter range or a filter.',
  );
