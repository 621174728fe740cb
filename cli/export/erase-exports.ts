import { setTimeout as sleep } from 'node:timers/promises';
import { eraseFromExports } from '../../lib/export/erase-from-exports.ts';
import { findExportSchedule } from '../../lib/export/export-schedule-table.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { getService } from '../get-service.ts';
import type { Output } from '../output.ts';
import { openExportStorage } from './open-export-storage.ts';

const pollIntervalMs = 5 * secondMs;

/**
 * Rewrites the exports at the locations, and the scheduled ones of the app, without an erased customer. A run that
 * started before the erasure can still write the name, so this waits until it has ended. Returns the number of
 * rewritten files, or undefined without exports.
 */
export async function eraseExports(
  appName: string,
  username: string,
  { locations, output }: { readonly locations: readonly string[]; readonly output: Pick<Output, 'progress'> },
): Promise<number | undefined> {
  const scheduled = await waitForScheduledExport(appName, output);
  const all = [...new Set([...locations, ...scheduled])];
  if (all.length === 0) return undefined;
  let files = 0;
  for (const location of all) files += await eraseFromExports(await openExportStorage(location), username);
  return files;
}

async function waitForScheduledExport(appName: string, { progress }: Pick<Output, 'progress'>): Promise<string[]> {
  for (;;) {
    const schedule = await findExportSchedule(getService(), appName);
    if (!schedule) return [];
    if ((schedule.leaseUntil ?? 0) < getService().now()) return [schedule.location];
    progress('Waiting for the end of a scheduled export');
    await sleep(pollIntervalMs);
  }
}
