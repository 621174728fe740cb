import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** The state of this run, which the next one continues. */
export interface StateFile {
  readonly current: () => SavedState;
  readonly save: (changes: Partial<SavedState>) => void;
}

/** Opens the state of an earlier run, or begins with that of a new one. Without a folder, it is in memory only. */
export function openStateFile(folder: string | undefined): StateFile {
  const file = folder === undefined ? undefined : join(folder, 'state.json');
  let state = (file !== undefined && readState(file)) || {
    run: `claimcheck-${randomBytes(4).toString('hex')}`,
    secrets: {},
  };
  return {
    current: () => state,
    save(changes) {
      state = { ...state, ...changes };
      if (file === undefined) return;
      mkdirSync(dirname(file), { recursive: true });
      writeJsonFile(file, state);
    },
  };
}

function readState(file: string): SavedState | undefined {
  if (!existsSync(file)) return undefined;
  const saved = v.safeParse(v.pipe(v.string(), v.parseJson(), SavedState), readFileSync(file, 'utf8'));
  if (!saved.success) throw startupError(`${file} has an invalid format. Delete ${dirname(file)} and start again.`);
  return saved.output;
}
