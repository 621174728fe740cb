/**
 * Lambda limits a response to 6 MB, including headers and JSON escapes.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const maxResponseBytes = 5_000_000;

const batchSize = 500;

/**
 * Loads as many rows as fit into a response, in the order of the entries. Loads them in batches, so that at most one
 * batch is read without being returned.
 */
export async function collectRowsThatFit<Entry, Row extends object>(
  entries: readonly Entry[],
  loadRows: (batch: readonly Entry[]) => Promise<readonly Row[]>,
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
