import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { SavedOutbox } from './notification-delivery.ts';

const EmulatorState = v.object({
  version: v.literal(2),
  /** Difference between the emulated clock and real time. */
  clockOffsetMs: v.number(),
  /** State of each store, by platform. */
  stores: v.record(v.string(), v.unknown()),
  outbox: v.exactOptional(SavedOutbox),
});
export type EmulatorState = v.InferOutput<typeof EmulatorState>;

/** File with the state that survives a restart. */
export interface StateFile {
  /** Schedules a write within 200 ms. Further calls before the write are ignored. */
  readonly writeSoon: () => void;
  /** Writes immediately and waits for the write. */
  readonly flush: () => Promise<void>;
}

const writeDelayMs = 200;

/** Reads the state of an earlier run; undefined if the file is missing. Rejects if it is not a state file of this version. */
export async function readState(path: string): Promise<EmulatorState | undefined> {
  const content = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (content === undefined) return undefined;
  try {
    return v.parse(EmulatorState, JSON.parse(content));
  } catch (cause) {
    throw unreadableStateError(path, cause);
  }
}

/** Creates the error for a file that is not a state file of this version. */
export const unreadableStateError = (path: string, cause: unknown): Error =>
  new Error(`${path} is not a state file of this emulator version. Delete it to start with an empty state.`, { cause });

/** Creates a state file that writes the result of `toState` atomically. */
export function createStateFile(path: string, toState: () => EmulatorState): StateFile {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = (): void => {
    timer = undefined;
    writing = writing.then(() => replaceFile(path, JSON.stringify(toState())));
  };
  return {
    writeSoon: () => {
      timer ??= setTimeout(write, writeDelayMs);
    },
    flush: async () => {
      clearTimeout(timer);
      write();
      await writing;
    },
  };
}

async function replaceFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.new`;
  // The state contains private keys of the emulator.
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, path);
}
