import * as v from 'valibot';

/** The tables of an export. */
const exportTables = ['purchases', 'transactions', 'customers', 'entitlements'] as const;
export type ExportTable = (typeof exportTables)[number];

/**
 * - `full`: all rows of the app.
 * - `changes`: the rows of the purchases that changed since the start of the latest export, and of their customers.
 */
export const ExportKind = v.picklist(['full', 'changes']);
export type ExportKind = v.InferOutput<typeof ExportKind>;

const ExportRun = v.object({
  kind: ExportKind,
  /** Epoch milliseconds. */
  startedAt: v.number(),
});
export type ExportRun = v.InferOutput<typeof ExportRun>;

/** The state of a target, next to its files. */
export const ExportState = v.object({
  app: v.string(),
  format: v.literal(1),
  /** The latest complete export. */
  latest: v.exactOptional(ExportRun),
  /** An export that is running or was interrupted, with the tables that are complete. */
  unfinished: v.exactOptional(v.object({ ...ExportRun.entries, completeTables: v.array(v.picklist(exportTables)) })),
});
export type ExportState = v.InferOutput<typeof ExportState>;

/** Returns the path of the file of a table. A full export replaces an earlier one of the same day (UTC). */
export function toExportPath(table: ExportTable, { kind, startedAt }: ExportRun): string {
  const [day = '', time = ''] = new Date(startedAt).toISOString().split('T');
  const suffix = kind === 'full' ? '' : `.changes-${time.slice(0, 8).replaceAll(':', '')}`;
  return `dt=${day}/${table}${suffix}.jsonl.gz`;
}
