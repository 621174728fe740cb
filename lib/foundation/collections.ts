/** Groups rows by a key, in the order of the first row of each key. `Map.groupBy` needs Node 21. */
export function groupBy<Row, Key>(rows: readonly Row[], toKey: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const key = toKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

/** Adds numbers. */
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
