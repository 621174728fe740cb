import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { cannotStart } from './cannot-start.ts';

const Application = v.object({ app: v.string(), publicKey: v.string(), secretKey: v.string() });

const KeptState = v.object({
  /** Starts the name of this run's table, so that a database shared with others stays in order. */
  run: v.string(),
  secrets: v.record(v.string(), v.string()),
  /** The demo application, once it has been made. */
  demo: v.exactOptional(Application),
  /** Where its webhooks were taken: those that wait are sent there again. */
  receiverPort: v.exactOptional(v.number()),
});
export type KeptState = v.InferOutput<typeof KeptState>;

const fileIn = (folder: string): string => join(folder, 'state.json');

/** What an earlier run left in the folder; undefined when there was none. */
export async function readKeptState(folder: string): Promise<KeptState | undefined> {
  const file = fileIn(folder);
  if (!existsSync(file)) return undefined;
  const kept = v.safeParse(v.pipe(v.string(), v.parseJson(), KeptState), await readFile(file, 'utf8'));
  if (!kept.success) throw cannotStart(`${file} is not what an earlier start wrote: delete ${folder} to start anew.`);
  return kept.output;
}

/** Leaves the state for the next run. It holds keys, so only its owner may read it. */
export async function keepState(folder: string, state: KeptState): Promise<void> {
  await mkdir(folder, { recursive: true });
  const draft = `${fileIn(folder)}.new`;
  await writeFile(draft, JSON.stringify(state, null, 2), { mode: 0o600 });
  await rename(draft, fileIn(folder));
}
