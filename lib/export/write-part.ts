import { type ExportRun, type ExportTable, toExportPath } from './export-state.ts';
import type { ExportFile, ExportTarget } from './export-target.ts';

export type WriteRows = (table: ExportTable, rows: readonly object[]) => Promise<void>;

/** The files of a part of several tables, all of which are written or none. */
export interface TablePart {
  readonly write: WriteRows;
  /** Number of rows in all files. */
  countRows(): number;
  /** Completes the files. Returns them with their numbers of rows. */
  close(): Promise<{ path: string; rows: number }[]>;
  discard(): Promise<void>;
}

interface PartOptions {
  readonly tables: readonly ExportTable[];
  readonly run: ExportRun;
  /** Counted from 1. */
  readonly part: number;
}

/** Opens the files of a part. */
export async function openPart(target: ExportTarget, { tables, run, part }: PartOptions): Promise<TablePart> {
  const files = new Map<ExportTable, { readonly path: string; readonly file: ExportFile; rows: number }>();
  const discard = async () => {
    for (const { file } of files.values()) await file.discard();
  };
  try {
    for (const table of tables) {
      const path = toExportPath(table, run, part);
      files.set(table, { path, file: await target.openFile(path), rows: 0 });
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async write(table, rows) {
      const entry = files.get(table);
      if (!entry) return;
      await entry.file.write(rows);
      entry.rows += rows.length;
    },
    countRows: () => [...files.values()].reduce((sum, { rows }) => sum + rows, 0),
    async close() {
      for (const { file } of files.values()) await file.close();
      return [...files.values()].map(({ path, rows }) => ({ path, rows }));
    },
    discard,
  };
}
