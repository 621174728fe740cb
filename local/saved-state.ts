import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { startupError } from './startup-error.ts';

const Application = v.object({ appName: v.string(), publicKey: v.string(), secretKey: v.string() });

const SavedState = v.object({
  /** Starts the name of this run's table, so that a database shared with others stays in order. */
  run: v.string(),
  secrets: v.record(v.string(), v.string()),
  /** The demo application, once it has been made. */
  demo: v.exactOptional(Application),
  /** Where its webhooks were taken: those that wait are sent there again. */
  receiverPort: v.exactOptional(v.number()),
});
export type SavedState = v.InferOutput<typeof SavedState>;

const getStateFile = (folder: string): string => join(folder, 'state.json');

/** What an earlier run left in the folder; undefined when there was none. */
export async function readSavedState(folder: string): Promise<SavedState | undefined> {
  const file = getStateFile(folder);
  if (!existsSync(file)) return undefined;
  const kept = v.safeParse(v.pipe(v.string(), v.parseJson(), SavedState), await readFile(file, 'utf8'));
  if (!kept.success) throw startupError(`${file} is not what an earlier start wrote: delete ${folder} to start anew.`);
  return kept.output;
}

/** Leaves the state for the next run. It holds keys, so only its owner may read it. */
export async function saveState(folder: string, state: SavedState): Promise<void> {
  await mkdir(folder, { recursive: true });
  const draft = `${getStateFile(folder)}.new`;
  await writeFile(draft, JSON.stringify(state, null, 2), { mode: 0o600 });
  await rename(draft, getStateFile(folder));
}
