import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { buildExportSchema } from '../../lib/export/export-schema.ts';
import { ExportState } from '../../lib/export/export-state.ts';
import type { ExportFile, ExportTarget } from '../../lib/export/export-target.ts';
import { parseJson } from '../../lib/shared/parse.ts';

const stateFile = 'export.json';
const schemaFile = 'schema.json';

/** Exports contain personal data: only the operator can read them. */
const fileMode = 0o600;
const folderMode = 0o700;

/** Creates the target of an export in a folder, with the schema of its rows. */
export async function createFolderTarget(folder: string): Promise<ExportTarget> {
  await mkdir(folder, { recursive: true, mode: folderMode });
  await replaceFile(join(folder, schemaFile), `${JSON.stringify(buildExportSchema(), null, 2)}\n`);
  return {
    async readState() {
      const text = await readOptionalFile(join(folder, stateFile));
      return text === undefined ? undefined : parseJson(ExportState, text, 'InvalidPayload');
    },
    writeState: async (state) => await replaceFile(join(folder, stateFile), `${JSON.stringify(state)}\n`),
    openFile: async (path) => await openFile(join(folder, path)),
  };
}

/** Opens a file of compressed JSON lines under a temporary name, which `close` replaces. */
export async function openFile(path: string): Promise<ExportFile> {
  const partial = `${path}.partial`;
  await mkdir(dirname(path), { recursive: true, mode: folderMode });
  const gzip = createGzip();
  const written = pipeline(gzip, createWriteStream(partial, { mode: fileMode }));
  // A failed write is reported by the next call, and must not end the process before.
  written.catch(() => undefined);
  return {
    async write(rows) {
      if (rows.length === 0) return;
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      await Promise.race([new Promise<void>((resolve) => gzip.write(text, () => resolve())), written]);
    },
    async close() {
      gzip.end();
      await written;
      await rename(partial, path);
    },
    async discard() {
      gzip.destroy();
      await written.catch(() => undefined);
      await rm(partial, { force: true });
    },
  };
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.partial`, text, { mode: fileMode });
  await rename(`${path}.partial`, path);
}

async function readOptionalFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
