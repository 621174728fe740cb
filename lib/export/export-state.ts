import * as v from 'valibot';

/** The tables of an export. */
const exportTables = ['purchases', 'transactions', 'customers', 'entitlements', 'credits'] as const;
export type ExportTable = (typeof exportTables)[number];

/**
 * - `full`: all rows of the app.
 * - `changes`: the rows of the purchases that changed since the start of the latest export, and of their customers,
 *   and all rows of credits.
 */
export const ExportKind = v.picklist(['full', 'changes']);
export type ExportKind = v.InferOutput<typeof ExportKind>;

const ExportRun = v.object({
  kind: ExportKind,
  /** Epoch milliseconds. */
  startedAt: v.number(),
});
export type ExportRun = v.InferOutput<typeof ExportRun>;

/** Complete parts of tables that are not complete, and the position in the list of ids after them. */
const ExportPosition = v.object({ parts: v.number(), after: v.string() });
export type ExportPosition = v.InferOutput<typeof ExportPosition>;

const UnfinishedExport = v.object({
  ...ExportRun.entries,
  completeTables: v.pipe(v.array(v.picklist(exportTables)), v.readonly()),
  /** The position in the tables after the complete ones. */
  position: v.exactOptional(ExportPosition),
});
export type UnfinishedExport = v.InferOutput<typeof UnfinishedExport>;

/** The state of a target, next to its files. */
export const ExportState = v.object({
  app: v.string(),
  format: v.literal(1),
  /** The latest complete export. */
  latest: v.exactOptional(ExportRun),
  /** An export that is running or was interrupted. */
  unfinished: v.exactOptional(UnfinishedExport),
});
export type ExportState = v.InferOutput<typeof ExportState>;

/**
 * Returns the path of a part of a table, counted from 1. A full export replaces an earlier one of the same day (UTC).
 */
export function toExportPath(table: ExportTable, { kind, startedAt }: ExportRun, part = 1): string {
  const [day = '', time = ''] = new Date(startedAt).toISOString().split('T');
  const changes = kind === 'full' ? '' : `.changes-${time.slice(0, 8).replaceAll(':', '')}`;
  return `dt=${day}/${table}${changes}${part === 1 ? '' : `.part-${part}`}.jsonl.gz`;
}
