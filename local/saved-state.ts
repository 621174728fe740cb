import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { startupError } from './startup-error.ts';

const SavedApiKeys = v.object({ appName: v.string(), publicKey: v.string(), secretKey: v.string() });

const SavedState = v.object({
  /** Prefix of this run's table name, because a table engine can be shared. */
  run: v.string(),
  secrets: v.record(v.string(), v.string()),
  /** API keys of the demo app. */
  demo: v.exactOptional(SavedApiKeys),
  /** Port of the webhook receiver. Pending webhooks are retried there. */
  receiverPort: v.exactOptional(v.number()),
  /** URL of the service, to which the emulated stores post the notifications of the demo app. */
  baseUrl: v.exactOptional(v.string()),
});
export type SavedState = v.InferOutput<typeof SavedState>;

const getStateFile = (folder: string): string => join(folder, 'state.json');

/** Reads the state of an earlier run. Returns undefined without one. */
export async function readSavedState(folder: string): Promise<SavedState | undefined> {
  const file = getStateFile(folder);
  if (!existsSync(file)) return undefined;
  const saved = v.safeParse(v.pipe(v.string(), v.parseJson(), SavedState), await readFile(file, 'utf8'));
  if (!saved.success) throw startupError(`${file} has an invalid format. Delete ${folder} and start again.`);
  return saved.output;
}

/** Saves the state for the next run. The file is readable by its owner only, because it contains keys. */
export async function saveState(folder: string, state: SavedState): Promise<void> {
  await mkdir(folder, { recursive: true });
  const draft = `${getStateFile(folder)}.new`;
  await writeFile(draft, JSON.stringify(state, null, 2), { mode: 0o600 });
  await rename(draft, getStateFile(folder));
}
