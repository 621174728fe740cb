import pMap from 'p-map';
import { ServiceError } from '../foundation/errors.ts';
import type { Product } from './counter-key.ts';
import type { CounterQuery } from './counter-table.ts';
import type { Cell, PeriodSums } from './figure-cells.ts';
import { splitByPrefix } from './figure-sums.ts';

/**
 * Reads what an earlier release has counted by country, or by product, instead of cells: nothing once the figures are
 * corrected. Throws `InvalidPayload` for filters, which these counters do not have.
 */
export async function readEarlierCells(
  readSums: (group: CounterQuery) => Promise<PeriodSums>,
  products: readonly Product[],
  { isByCountry, isFiltered }: { readonly isByCountry: boolean; readonly isFiltered: boolean },
): Promise<Cell[]> {
  const cells: Cell[] =
    isByCountry || isFiltered
      ? [...splitByPrefix(await readSums({ kind: 'countries' }))].map(([country, sums]) => ({ country, ...sums }))
      : await pMap(products, async (product) => ({ product, ...(await readSums({ kind: 'product', product })) }), {
          concurrency: 25,
        });
  const counted = cells.filter(({ days, months }) =>
    [...days.values(), ...months.values()].some((counts) => Object.keys(counts).length > 0),
  );
  if (isFiltered && counted.length > 0)
    throw new ServiceError(
      'InvalidPayload',
      'Payments of an earlier release are not counted for filters: run the command stats recount --from <day> --to <day> --correct.',
    );
  return counted;
}
