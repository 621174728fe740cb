import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseJson } from '../foundation/parse.ts';
import type { BucketLocation } from './bucket-location.ts';
import { buildExportSchema } from './export-schema.ts';
import { ExportState } from './export-state.ts';
import type { ExportFile, ExportStorage, ObjectStore } from './export-target.ts';
import { openGzipFile } from './gzip-file.ts';

const stateFile = 'export.json';
const schemaFile = 'schema.json';

/**
 * Creates the target of an export below a prefix of a bucket, with the schema of its rows. A file is written to the
 * temporary folder first: an object is complete or absent.
 */
export async function createBucketTarget(
  { bucket, prefix }: BucketLocation,
  objects: ObjectStore,
): Promise<ExportStorage> {
  const toKey = (path: string): string => `${prefix}/${path}`;
  const putText = async (path: string, content: string) => await objects.put(bucket, toKey(path), content);
  await putText(schemaFile, `${JSON.stringify(buildExportSchema(), null, 2)}\n`);
  return {
    async readState() {
      // With a permission to list keys below the prefix only, a missing object is reported as a missing permission.
      const keys = await objects.list(bucket, toKey(stateFile));
      if (!keys.includes(toKey(stateFile))) return undefined;
      return parseJson(ExportState, await text(await objects.get(bucket, toKey(stateFile))));
    },
    writeState: async (state) => await putText(stateFile, `${JSON.stringify(state)}\n`),
    openFile: async (path) => await openObject(async (file) => await objects.putFile(bucket, toKey(path), file)),
    listFiles: async () => (await objects.list(bucket, toKey('dt='))).map((key) => key.slice(prefix.length + 1)).sort(),
    readFile: async (path) => await objects.get(bucket, toKey(path)),
  };
}

/** Opens a temporary file that `close` uploads. */
async function openObject(upload: (file: string) => Promise<void>): Promise<ExportFile> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-export-'));
  const path = join(folder, 'rows.jsonl.gz');
  const file = openGzipFile(path);
  const discard = async () => {
    await file.remove();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    write: file.write,
    async close() {
      try {
        await file.end();
        await upload(path);
      } finally {
        await discard();
      }
    },
    discard,
  };
}
