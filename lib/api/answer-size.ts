/** An answer of a function holds at most 6 MB, its headers and escapes included. */
export const largestAnswerBytes = 5_000_000;

/** Rows that are made at a time. */
const portion = 500;

/**
 * The rows of the first of what is listed, as many as an answer can hold. They are made in portions until it is full, as what
 * they tell has to be read: hardly any is read in vain.
 */
export async function rowsThatFit<Listed, Row extends object>(
  listed: readonly Listed[],
  rowsOf: (some: readonly Listed[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const fitting: Row[] = [];
  let bytes = 0;
  for (let start = 0; start < listed.length; start += portion) {
    for (const row of await rowsOf(listed.slice(start, start + portion))) {
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (bytes > largestAnswerBytes) return fitting;
      fitting.push(row);
    }
  }
  return fitting;
}
