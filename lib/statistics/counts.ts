import type { ListKind } from '../foundation/keys.ts';
import { isHourRowsName, toHourRowsName, toMonthRowsName } from './counter-names.ts';

/** Sums by name, without zeros. */
export type Counts = Readonly<Record<string, number>>;

/** Adds `b` to `a`, or subtracts it if `sign` is -1. */
export function addCounts(a: Counts, b: Counts, sign: 1 | -1 = 1): Counts {
  const sums = new Map(Object.entries(a));
  for (const [name, value] of Object.entries(b)) sums.set(name, (sums.get(name) ?? 0) + sign * value);
  return Object.fromEntries([...sums].filter(([, value]) => value !== 0).sort(([x], [y]) => (x < y ? -1 : 1)));
}

export const negateCounts = (counts: Counts): Counts => addCounts({}, counts, -1);

/** Adds the prefix of a platform or country to the names. */
export const prefixNames = (prefix: string, counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).map(([name, value]) => [`${prefix}/${name}`, value]));

/**
 * Lists the sums of a cell as they enter a total over several cells. A sum with the prefix of another cell is included
 * only if the total contains that cell.
 */
export const listMergedSums = (counts: Counts, isMerged: (cellName: string) => boolean): [string, number][] =>
  Object.entries(counts).flatMap(([name, value]): [string, number][] => {
    const slash = name.indexOf('/');
    return slash < 0 || isMerged(name.slice(0, slash)) ? [[name.slice(slash + 1), value]] : [];
  });

/** Converts the counts of a day into its contribution to the month. */
export function collapseHours(counts: Counts): Counts {
  return Object.entries(counts).reduce<Counts>((month, [name, value]) => {
    const hourless = isHourRowsName(name) ? name.slice(0, 1) : name;
    return addCounts(month, { [hourless]: value });
  }, {});
}

/** Returns the number of rows created in a month. */
export const countMonthRows = (counts: Counts, list: ListKind): number => counts[toMonthRowsName(list)] ?? 0;

/** Returns the number of rows created in each of the 24 hours of a day. */
export const listHourCounts = (counts: Counts, list: ListKind): number[] =>
  Array.from({ length: 24 }, (_, hour) => counts[toHourRowsName(list, hour)] ?? 0);

export const indexByPeriod = (
  periods: readonly { readonly period: string; readonly counts: Counts }[],
): ReadonlyMap<string, Counts> => new Map(periods.map(({ period, counts }) => [period, counts]));
