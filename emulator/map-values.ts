/** Applies the function to each value of a record. */
export const mapValues = <T, R>(
  record: Readonly<Record<string, T>>,
  change: (value: T, key: string) => R,
): Readonly<Record<string, R>> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
