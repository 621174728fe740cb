/** The same text for the same content, whatever the order of its keys. */
export const toCanonicalJson = (record: object): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
