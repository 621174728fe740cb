import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import * as v from 'valibot';
import { parseJson } from '../../lib/shared/parse.ts';
import { openFile } from './folder-target.ts';

const exportFilePattern = /^(?:purchases|transactions|customers|entitlements)(?:\.changes-\d{6})?\.jsonl\.gz$/;
const partitionPattern = /^dt=\d{4}-\d{2}-\d{2}$/;

/** A row with the members that name customers. */
const NamingRow = v.looseObject({
  applicationUsername: v.exactOptional(v.string()),
  entitledUsers: v.exactOptional(v.array(v.string())),
});
type NamingRow = v.InferOutput<typeof NamingRow>;

/**
 * Rewrites the files of an export that name a customer, without the rows of the customer and without the name in other
 * rows. Returns the number of rewritten files. Can be repeated after an interruption.
 */
export async function eraseFromExports(folder: string, username: string): Promise<number> {
  let rewritten = 0;
  for (const path of await listExportFiles(folder)) if (await eraseFromFile(path, username)) rewritten += 1;
  return rewritten;
}

async function listExportFiles(folder: string): Promise<string[]> {
  const partitions = (await readdir(folder)).filter((name) => partitionPattern.test(name)).sort();
  const files = await Promise.all(
    partitions.map(async (partition) => {
      const names = await readdir(join(folder, partition));
      return names.filter((name) => exportFilePattern.test(name)).map((name) => join(folder, partition, name));
    }),
  );
  return files.flat();
}

/** Returns whether the file named the customer. */
async function eraseFromFile(path: string, username: string): Promise<boolean> {
  const file = await openFile(path);
  let isChanged = false;
  try {
    for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) })) {
      const row = parseJson(NamingRow, line);
      const remaining = omitUser(row, username);
      isChanged ||= remaining !== row;
      if (remaining) await file.write([remaining]);
    }
  } catch (error) {
    await file.discard();
    throw error;
  }
  await (isChanged ? file.close() : file.discard());
  return isChanged;
}

/** Returns the row itself if it does not name the customer, and undefined for a row about the customer. */
function omitUser(row: NamingRow, username: string): NamingRow | undefined {
  if (row.applicationUsername === username) return undefined;
  if (!row.entitledUsers?.includes(username)) return row;
  return { ...row, entitledUsers: row.entitledUsers.filter((user) => user !== username) };
}
