import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { startupError } from './startup-error.ts';
import { writeJsonFile } from './write-json-file.ts';

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
export function readSavedState(folder: string): SavedState | undefined {
  const file = getStateFile(folder);
  if (!existsSync(file)) return undefined;
  const saved = v.safeParse(v.pipe(v.string(), v.parseJson(), SavedState), readFileSync(file, 'utf8'));
  if (!saved.success) throw startupError(`${file} has an invalid format. Delete ${folder} and start again.`);
  return saved.output;
}

/** Saves the state for the next run. */
export function saveState(folder: string, state: SavedState): void {
  mkdirSync(folder, { recursive: true });
  writeJsonFile(getStateFile(folder), state);
}
