import type { ListKind } from '../foundation/keys.ts';

/**
 * Sums by name, without zeros. `P.13`, `T.13` and `C.13` count the purchases, transactions and customers created from
 * 13:00 to 14:00 UTC; in the counts of a month, `P`, `T` and `C` count all hours. `N.RENEWED` counts notifications.
 * `EUR.micros` is an amount, and `EUR.usd` its value in micros of US dollars. `requests`, `transactions` and `paid` are
 * counts. `store_a/paid` is a sum of the platform: `ProductSum` has their names.
 */
export type Counts = Readonly<Record<string, number>>;

/** Adds `b` to `a`, or subtracts it if `sign` is -1. */
export function addCounts(a: Counts, b: Counts, sign: 1 | -1 = 1): Counts {
  const sums = new Map(Object.entries(a));
  for (const [name, value] of Object.entries(b)) sums.set(name, (sums.get(name) ?? 0) + sign * value);
  return Object.fromEntries([...sums].filter(([, value]) => value !== 0).sort(([x], [y]) => (x < y ? -1 : 1)));
}

/** Whether the sum counts rows of a list that were created in an hour. */
export const isRowCount = (name: string): boolean => /^[PTC]\./.test(name);

/** Converts the counts of a day into its contribution to the month. */
export function collapseHours(counts: Counts): Counts {
  return Object.entries(counts).reduce<Counts>((month, [name, value]) => {
    const hourless = isRowCount(name) ? name.slice(0, 1) : name;
    return addCounts(month, { [hourless]: value });
  }, {});
}

/** Names of the sums of the lists whose rows are counted by hour of creation, for offset paging. */
const listNames: Readonly<Record<ListKind, string>> = { purchases: 'P', transactions: 'T', customers: 'C' };

/** Returns the name of the sum of the rows of a list that were created in an hour. */
export const toHourName = (list: ListKind, hour: number): string => `${listNames[list]}.${hour}`;

/** Returns the number of rows created in a month. */
export const countMonthRows = (counts: Counts, list: ListKind): number => counts[listNames[list]] ?? 0;

/** Returns the number of rows created in each of the 24 hours of a day. */
export const listHourCounts = (counts: Counts, list: ListKind): number[] =>
  Array.from({ length: 24 }, (_, hour) => counts[toHourName(list, hour)] ?? 0);

export const indexByPeriod = (
  periods: readonly { readonly period: string; readonly counts: Counts }[],
): ReadonlyMap<string, Counts> => new Map(periods.map(({ period, counts }) => [period, counts]));
