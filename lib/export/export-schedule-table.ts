import { exportScheduleKey } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import { type ExportOutcome, ExportSchedule } from './export-schedule.ts';

export async function findExportSchedule({ table }: Service, appName: string): Promise<ExportSchedule | undefined> {
  const item = await table.get(exportScheduleKey(appName));
  return item && parse(ExportSchedule, item, 'DatabaseError');
}

/** Replaces the schedule of an app. */
export async function setExportSchedule({ table }: Service, appName: string, schedule: ExportSchedule): Promise<void> {
  return await table.batchPut([{ ...exportScheduleKey(appName), ...schedule }]);
}

export async function removeExportSchedule({ table }: Service, appName: string): Promise<void> {
  await table.transact([{ Delete: { TableName: table.name, Key: { ...exportScheduleKey(appName) } } }]);
}

/** Leases the schedule to a run. Returns false if another run has the lease, or the schedule has changed. */
export async function leaseExport(
  { table }: Service,
  appName: string,
  { createdAt }: ExportSchedule,
  { now, until }: { now: EpochMillis; until: EpochMillis },
): Promise<boolean> {
  return await tryUpdate(
    table,
    buildUpdate(
      exportScheduleKey(appName),
      { leaseUntil: until },
      {
        expression: 'createdAt = :createdAt AND (attribute_not_exists(leaseUntil) OR leaseUntil < :now)',
        values: { ':createdAt': createdAt, ':now': now },
      },
    ),
  );
}

/** Ends the lease of a run. Does nothing if the lease is not the run's any longer. */
export async function finishExport(
  { table }: Service,
  appName: string,
  leaseUntil: EpochMillis,
  outcome: ExportOutcome,
): Promise<void> {
  const fields = {
    failure: outcome.failure,
    ...('kind' in outcome && {
      exportedAt: outcome.startedAt,
      ...(outcome.kind === 'full' && { fullAt: outcome.startedAt }),
    }),
  };
  const condition = { expression: 'leaseUntil = :leaseUntil', values: { ':leaseUntil': leaseUntil } };
  await tryUpdate(table, buildUpdate(exportScheduleKey(appName), { ...fields, leaseUntil: undefined }, condition));
}
