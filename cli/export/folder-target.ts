import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildExportSchema } from '../../lib/export/export-schema.ts';
import { ExportState } from '../../lib/export/export-state.ts';
import type { ExportFile, ExportStorage } from '../../lib/export/export-target.ts';
import { fileMode, openGzipFile } from '../../lib/export/gzip-file.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { describeFileError } from '../describe-file-error.ts';
import { parseFileText } from '../read-json-file.ts';

const stateFile = 'export.json';
const schemaFile = 'schema.json';

/** Exports contain personal data: only the operator can read them. */
const folderMode = 0o700;

/**
 * Creates the target of an export in a folder, with the schema of its rows. Throws `InvalidPayload` if the folder
 * cannot be written.
 */
export async function createFolderTarget(folder: string): Promise<ExportStorage> {
  try {
    await mkdir(folder, { recursive: true, mode: folderMode });
    await replaceFile(join(folder, schemaFile), `${JSON.stringify(buildExportSchema(), null, 2)}\n`);
  } catch (error) {
    throw new ServiceError('InvalidPayload', `${folder} ${describeFileError(error)}.`, { cause: error });
  }
  return {
    async readState() {
      const text = await readOptionalFile(join(folder, stateFile));
      return text === undefined ? undefined : parseFileText(ExportState, text, join(folder, stateFile));
    },
    writeState: async (state) => await replaceFile(join(folder, stateFile), `${JSON.stringify(state)}\n`),
    openFile: async (path) => await openFile(join(folder, path)),
    async listFiles() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return files.map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length)).sort();
    },
    readFile: async (path) => createReadStream(join(folder, path)),
  };
}

/** Opens a file of compressed JSON lines under a temporary name, which `close` replaces. */
async function openFile(path: string): Promise<ExportFile> {
  const partial = `${path}.partial`;
  await mkdir(dirname(path), { recursive: true, mode: folderMode });
  const file = openGzipFile(partial);
  return {
    write: file.write,
    async close() {
      await file.end();
      await rename(partial, path);
    },
    discard: file.remove,
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
