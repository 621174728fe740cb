import * as keys from './keys.ts';
import type { Service } from './service.ts';

/** A read takes some milliseconds in the region of the table, and a fifth of a second from another continent. */
const slowReadMs = 300;

/** A busy process delays single reads. */
const maxReads = 3;

/** Returns how long a read of the table takes, in milliseconds. Undefined if it is as fast as usual. */
export async function measureSlowReads({
  table,
  emulator: { timeFactor = 1 },
}: Pick<Service, 'table' | 'emulator'>): Promise<number | undefined> {
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let read = 0; read < maxReads; read++) {
    const startedAt = performance.now();
    await table.get(keys.tableVersionKey());
    fastestMs = Math.min(fastestMs, performance.now() - startedAt);
    if (fastestMs < timeFactor * slowReadMs) return undefined;
  }
  return fastestMs;
}
