/** Returns the same text for the same members, in any order. Compares members of the first level only. */
export const toCanonicalJson = (record: object): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
