import type { App } from '../apps/app.ts';
import { runForApps } from '../apps/app-list-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs, minuteMs, secondMs } from '../foundation/time.ts';
import { exportApp } from './export-app.ts';
import type { ExportSchedule } from './export-schedule.ts';
import { findExportSchedule, finishExport, leaseExport } from './export-schedule-table.ts';
import type { ExportKind } from './export-state.ts';
import type { ExportTarget } from './export-target.ts';
import { openBucketTarget } from './s3-object-store.ts';

type OpenTarget = (location: string) => Promise<ExportTarget>;

/** Time in which an interrupted run stores its state. */
const reservedMs = 30 * secondMs;

/** A run without this time would hardly complete a part of a table. */
const minRemainingMs = 2 * minuteMs;

/** Runs start every 15 minutes, and not at the same second of the hour. */
const toleranceMs = 10 * minuteMs;

/**
 * Exports the apps with a schedule whose export is due: all rows once a day (UTC), and the changes every hour. Deleted
 * apps are not exported. The app that has waited longest is the first. What the time of the run does not suffice for
 * is continued by the next run. Throws the first failure after all apps.
 */
export async function runScheduledExports(
  service: Service,
  remainingMs: () => number,
  openTarget: OpenTarget = openBucketTarget,
): Promise<void> {
  await runForApps(service, async (apps) => await exportApps(service, apps, { remainingMs, openTarget }));
}

async function exportApps(
  service: Service,
  apps: readonly App[],
  { remainingMs, openTarget }: { remainingMs: () => number; openTarget: OpenTarget },
): Promise<void> {
  const due: DueExport[] = [];
  for (const app of apps) {
    if (app.deletedAt !== undefined) continue;
    const schedule = await findExportSchedule(service, app.name);
    const kind = schedule && findDueKind(schedule, service.now());
    if (schedule && kind) due.push({ app, schedule, kind });
  }
  due.sort((a, b) => (a.schedule.exportedAt ?? 0) - (b.schedule.exportedAt ?? 0));
  const failures: unknown[] = [];
  for (const dueExport of due) {
    if (remainingMs() < minRemainingMs) break;
    try {
      await runExport(service, dueExport, { openTarget, timeoutMs: remainingMs() - reservedMs });
    } catch (error) {
      logError({ worker: 'export-apps', app: dueExport.app.name }, ServiceError.fromUnknown(error));
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

interface DueExport {
  readonly app: App;
  readonly schedule: ExportSchedule;
  readonly kind: ExportKind;
}

/** Returns the kind of the export that is due. Undefined if none is. */
export function findDueKind({ fullAt, exportedAt }: ExportSchedule, now: EpochMillis): ExportKind | undefined {
  if (fullAt === undefined || Math.floor(fullAt / dayMs) < Math.floor(now / dayMs)) return 'full';
  return now - (exportedAt ?? 0) >= hourMs - toleranceMs ? 'changes' : undefined;
}

async function runExport(
  service: Service,
  { app, schedule, kind }: DueExport,
  { openTarget, timeoutMs }: { openTarget: OpenTarget; timeoutMs: number },
): Promise<void> {
  const { now } = service;
  const leaseUntil = now() + timeoutMs + reservedMs;
  if (!(await leaseExport(service, app.name, schedule, { now: now(), until: leaseUntil }))) return;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const target = await openTarget(schedule.location);
    const { startedAt, failed } = await exportApp(service, app, target, { kind, signal });
    const failure = failed.length > 0 ? `${failed.length} items are not readable. Run export to list them.` : undefined;
    await finishExport(service, app.name, leaseUntil, { startedAt, kind, failure });
  } catch (error) {
    const { message } = ServiceError.fromUnknown(error);
    const failure = signal.aborted ? 'The time of the run did not suffice. The next run continues.' : message;
    await finishExport(service, app.name, leaseUntil, { failure });
    // The next run continues a full export: this is not a failure.
    if (!signal.aborted || kind === 'changes') throw error;
  }
}
