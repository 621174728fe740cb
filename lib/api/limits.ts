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

/** With one batch of a busy machine, below the 29 seconds after which API Gateway responds with 504. */
const maxLoadMs = 15_000;

/**
 * Loads as many rows as fit into a response, in the order of the entries. Loads them in batches, so that at most one
 * batch is read without being returned, and none after 15 seconds. `remaining` is the number of entries that are left.
 */
export async function collectRowsThatFit<Entry, Row extends object>(
  entries: readonly Entry[],
  loadRows: (batch: readonly Entry[]) => Promise<readonly Row[]>,
): Promise<{ readonly rows: Row[]; readonly remaining: number }> {
  const startedAt = performance.now();
  const rows: Row[] = [];
  let bytes = 0;
  for (let start = 0; start < entries.length; start += batchSize) {
    if (performance.now() - startedAt >= maxLoadMs) return { rows, remaining: entries.length - start };
    const loaded = await loadRows(entries.slice(start, start + batchSize));
    for (const [index, row] of loaded.entries()) {
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (bytes > maxResponseBytes) return { rows, remaining: entries.length - start - index };
      rows.push(row);
    }
  }
  return { rows, remaining: 0 };
}
