/**
 * Sums by name, of which only those that are not zero are kept. In a day's tally: `P.13`, `T.13`, `C.13` count the
 * purchases, transactions and customers of an hour; `requests`, `transactions` and `paid` count the day's; `USD.micros`,
 * `USD.usd`, `USD.transactions` and `USD.paid` are a currency's amount, its worth in micros of US dollars, and counts;
 * `N.RENEWED` counts notifications. A month's tally is the same without hours.
 */
export type Tally = Readonly<Record<string, number>>;

/** One tally and the other, or without the other where `sign` is -1. */
export function addTally(tally: Tally, other: Tally, sign: 1 | -1 = 1): Tally {
  const sums = new Map(Object.entries(tally));
  for (const [name, value] of Object.entries(other)) sums.set(name, (sums.get(name) ?? 0) + sign * value);
  return Object.fromEntries([...sums].filter(([, value]) => value !== 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What a day's tally adds to its month. */
export function collapseHours(tally: Tally): Tally {
  return Object.entries(tally).reduce<Tally>((month, [name, value]) => {
    const hourless = /^[PTC]\./.test(name) ? name.slice(0, 1) : name;
    return addTally(month, { [hourless]: value });
  }, {});
}

/** The lists whose rows are counted by hour, so that a page deep in them can be found. */
export type ListKind = 'P' | 'T' | 'C';

/** How many rows of a list began in each hour of a day. */
export const listHourCounts = (tally: Tally, collection: ListKind): number[] =>
  Array.from({ length: 24 }, (_, hour) => tally[`${collection}.${hour}`] ?? 0);

/** Tallies by their day or month. */
export const indexByPeriod = (
  periods: readonly { readonly period: string; readonly tally: Tally }[],
): ReadonlyMap<string, Tally> => new Map(periods.map(({ period, tally }) => [period, tally]));
