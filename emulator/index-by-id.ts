/** Indexes records by their id. */
export const indexById = <T extends { readonly id: string }>(records: readonly T[] = []): Map<string, T> =>
  new Map(records.map((record) => [record.id, record]));
