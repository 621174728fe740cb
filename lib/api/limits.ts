/** Requests of one key that are accepted for an unlimited time. Far above the average of ten million subscribers. */
export const defaultRequestsPerSecond = 200;

/** Below it, the bucket of an address would be smaller than a report. */
export const minRequestsPerSecond = 50;

/** Maximum that an app can set. */
export const maxRequestsPerSecond = 100_000;

/**
 * Lambda limits a response to 6 MB, including headers and JSON escapes.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const maxResponseBytes = 5_000_000;

/** Advice for a response without pages of purchases: those of a customer, or of the app. */
export const toPagesAdvice = (username?: string): string =>
  `Read pages of GET /v3/purchases${username === undefined ? '' : `?customerId=${encodeURIComponent(username)}`}.`;

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
