import { type Product, toCellName } from './counter-key.ts';
import type { CounterPeriod } from './counter-table.ts';
import type { Counts } from './counts.ts';
import { type FigureSegment, type FigureSums, mergeSums } from './figure-sums.ts';

export type PeriodSums = Omit<FigureSums, 'segment'>;

/** The sums of a product in a country. An earlier release has counted all countries, or all products, together. */
export interface Cell extends PeriodSums {
  readonly product?: Product;
  readonly country?: string;
}

/** Builds the cells of a product from its counters. A month has a counter of its cohorts, too. */
export function buildCells(product: Product, days: readonly CounterPeriod[], months: readonly CounterPeriod[]): Cell[] {
  const cells = new Map<string | undefined, { days: Map<string, Counts>; months: Map<string, Counts> }>();
  const getCell = (country: string | undefined) => {
    const cell = cells.get(country) ?? { days: new Map(), months: new Map() };
    cells.set(country, cell);
    return cell;
  };
  for (const { country, period, counts } of days) getCell(country).days.set(period, counts);
  for (const { country, period, counts } of months) {
    const cell = getCell(country);
    cell.months.set(period, { ...cell.months.get(period), ...counts });
  }
  return [...cells].map(([country = '', sums]) => ({ product, country, ...sums }));
}

/** Adds up cells of the products in the country, or in all. A move between two cells of them does not count. */
export function sumCells(
  segment: FigureSegment,
  cells: readonly Cell[],
  { products, country }: { readonly products: readonly Product[]; readonly country: string | undefined },
): FigureSums {
  const names = new Set(products.map(({ productId }) => toCellName({ productId, country: '' })));
  return mergeSums(
    segment,
    cells,
    (name) => names.has(name.slice(0, -2)) && (country ?? name.slice(-2)) === name.slice(-2),
  );
}
