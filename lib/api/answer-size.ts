/** An answer of a function holds at most 6 MB, its headers and escapes included. */
export const largestAnswerBytes = 5_000_000;

/** As many of the rows, from the first on, as an answer can hold. */
export function rowsThatFit<Row extends object>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    return bytes > largestAnswerBytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
}
