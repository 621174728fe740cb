import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import * as v from 'valibot';
import { parseJson } from '../foundation/parse.ts';
import type { ExportStorage } from './export-target.ts';

const exportFilePattern =
  /^dt=\d{4}-\d{2}-\d{2}\/(?:purchases|transactions|customers|entitlements|credits)(?:\.changes-\d{6})?(?:\.part-\d+)?\.jsonl\.gz$/;

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
export async function eraseFromExports(storage: ExportStorage, username: string): Promise<number> {
  let rewritten = 0;
  const files = (await storage.listFiles()).filter((path) => exportFilePattern.test(path));
  for (const path of files) if (await eraseFromFile(storage, path, username)) rewritten += 1;
  return rewritten;
}

/** Returns false if the file did not name the customer. */
async function eraseFromFile(storage: ExportStorage, path: string, username: string): Promise<boolean> {
  const file = await storage.openFile(path);
  let isChanged = false;
  try {
    for await (const line of readLines(await storage.readFile(path))) {
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

/** Reads the lines of a compressed file. Throws if it cannot be read to its end. */
async function* readLines(file: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of pipeline(file, createGunzip(), () => {})) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Returns the row itself if it does not name the customer, and undefined for a row about the customer. */
function omitUser(row: NamingRow, username: string): NamingRow | undefined {
  if (row.applicationUsername === username) return undefined;
  if (!row.entitledUsers?.includes(username)) return row;
  return { ...row, entitledUsers: row.entitledUsers.filter((user) => user !== username) };
}
