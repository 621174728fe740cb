import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { SavedOutbox } from './notification-delivery.ts';

const EmulatorState = v.object({
  version: v.literal(1),
  /** How far the emulated clock was from real time. */
  clockOffsetMs: v.number(),
  /** What each store saved, by platform. */
  stores: v.record(v.string(), v.unknown()),
  outbox: v.exactOptional(SavedOutbox),
});
export type EmulatorState = v.InferOutput<typeof EmulatorState>;

/** Where the emulator keeps what must survive a restart. */
export interface StateFile {
  /** Writes soon; calls in quick succession write once. */
  readonly writeSoon: () => void;
  /** Writes now what was to be written soon, and waits for it. */
  readonly flush: () => Promise<void>;
}

const writeDelayMs = 200;

/** What an earlier run wrote; undefined when there was none. Rejects when the file is not the emulator's. */
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

/** The error of a start on a file that this emulator did not write. */
export const unreadableStateError = (path: string, cause: unknown): Error =>
  new Error(`${path} does not hold the state of this emulator; delete it to start anew`, { cause });

/** Keeps the file up to date with what `current` gives, never half written. */
export function createStateFile(path: string, current: () => EmulatorState): StateFile {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = (): void => {
    timer = undefined;
    writing = writing.then(() => replaceFile(path, JSON.stringify(current())));
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
  // It holds private keys, even if only an emulator's.
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, path);
}
