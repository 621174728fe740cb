/** Splits a list into consecutive chunks of at most `size` values. */
export const splitIntoChunks = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size));
