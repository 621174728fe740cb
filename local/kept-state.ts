import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

const Application = v.object({ app: v.string(), publicKey: v.string(), secretKey: v.string() });

const KeptState = v.object({
  /** Starts the name of this run's table, so that a database shared with others stays in order. */
  run: v.string(),
  secrets: v.record(v.string(), v.string()),
  /** The demo application, once it has been made. */
  demo: v.exactOptional(Application),
});
export type KeptState = v.InferOutput<typeof KeptState>;

const fileIn = (folder: string): string => join(folder, 'state.json');

/** What an earlier run left in the folder; undefined when there was none. */
export async function readKeptState(folder: string): Promise<KeptState | undefined> {
  try {
    return v.parse(v.pipe(v.string(), v.parseJson(), KeptState), await readFile(fileIn(folder), 'utf8'));
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw new Error(`${fileIn(folder)} cannot be read; delete ${folder} to start anew.`, { cause: thrown });
  }
}

/** Leaves the state for the next run. It holds keys, so only its owner may read it. */
export async function keepState(folder: string, state: KeptState): Promise<void> {
  await mkdir(folder, { recursive: true });
  const draft = `${fileIn(folder)}.new`;
  await writeFile(draft, JSON.stringify(state, null, 2), { mode: 0o600 });
  await rename(draft, fileIn(folder));
}
