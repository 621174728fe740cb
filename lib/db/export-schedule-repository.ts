import { ExportSchedule, type ExportScheduleRepository } from '../export/export-schedule-repository.ts';
import { buildUpdate } from '../foundation/build-update.ts';
import { exportScheduleKey } from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { tryUpdate } from '../foundation/try-update.ts';
import { parse } from '../shared/parse.ts';

/** Creates the repository of the scheduled exports. */
export const createExportScheduleRepository = (table: Table): ExportScheduleRepository => ({
  async find(appName) {
    const item = await table.get(exportScheduleKey(appName));
    return item && parse(ExportSchedule, item, 'DatabaseError');
  },
  set: async (appName, schedule) => await table.batchPut([{ ...exportScheduleKey(appName), ...schedule }]),
  async remove(appName) {
    await table.transact([{ Delete: { TableName: table.name, Key: { ...exportScheduleKey(appName) } } }]);
  },
  lease: async (appName, { createdAt }, { now, until }) =>
    await tryUpdate(
      table,
      buildUpdate(
        exportScheduleKey(appName),
        { leaseUntil: until },
        {
          expression: 'createdAt = :createdAt AND (attribute_not_exists(leaseUntil) OR leaseUntil < :now)',
          values: { ':createdAt': createdAt, ':now': now },
        },
      ),
    ),
  async finish(appName, leaseUntil, outcome) {
    const fields =
      'failure' in outcome
        ? { failure: outcome.failure }
        : {
            failure: undefined,
            exportedAt: outcome.startedAt,
            ...(outcome.kind === 'full' && { fullAt: outcome.startedAt }),
          };
    const condition = { expression: 'leaseUntil = :leaseUntil', values: { ':leaseUntil': leaseUntil } };
    await tryUpdate(table, buildUpdate(exportScheduleKey(appName), { ...fields, leaseUntil: undefined }, condition));
  },
});
