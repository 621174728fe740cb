/** An answer of a function holds at most 6 MB, its headers and escapes included. */
export const maxResponseBytes = 5_000_000;

/** Rows that are made at a time. */
const batchSize = 500;

/**
 * The rows of the first of what is listed, as many as an answer can hold. They are made in portions until it is full, as what
 * they tell has to be read: hardly any is read in vain.
 */
export async function collectRowsThatFit<Listed, Row extends object>(
  entries: readonly Listed[],
  loadRows: (batch: readonly Listed[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const acceptedRows: Row[] = [];
  let bytes = 0;
  for (let start = 0; start < entries.length; start += batchSize) {
    for (const row of await loadRows(entries.slice(start, start + batchSize))) {
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (bytes > maxResponseBytes) return acceptedRows;
      acceptedRows.push(row);
    }
  }
  return acceptedRows;
}
