import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { SavedOutbox } from './notification-delivery.ts';
import { applyStateChange, computeChanges, StateChange } from './state-changes.ts';

const EmulatorState = v.object({
  version: v.literal(2),
  /** Difference between the emulated clock and real time. */
  clockOffsetMs: v.number(),
  /** State of each store, by platform. */
  stores: v.record(v.string(), v.unknown()),
  outbox: v.exactOptional(SavedOutbox),
});
export type EmulatorState = v.InferOutput<typeof EmulatorState>;

/**
 * File with the state that survives a restart. Its first line is a state, each later line the changes of one call. An
 * incomplete last line belongs to a call without a response.
 */
export interface StateFile {
  /**
   * Writes the changes since the last call synchronously. They survive the end of the process, but not of the machine.
   */
  readonly save: () => void;
  /** Replaces the lines by the current state. */
  readonly compact: () => void;
}

/** Lines of changes are kept until they are larger than the state, and at least to this size. */
const minCompactedBytes = 1_000_000;

/**
 * Reads the state of an earlier run; undefined if the file is missing. Rejects if it is not a state file of this
 * version.
 */
export async function readState(path: string): Promise<EmulatorState | undefined> {
  const content = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (content === undefined) return undefined;
  try {
    return parseState(content);
  } catch (cause) {
    throw unreadableStateError(path, cause);
  }
}

function parseState(content: string): EmulatorState {
  const [state = '', ...others] = content.split('\n');
  // Without a last line that is incomplete or empty.
  const changes = others.slice(0, -1).flatMap((line) => v.parse(v.array(StateChange), JSON.parse(line)));
  return v.parse(EmulatorState, changes.reduce(applyStateChange, JSON.parse(state)));
}

/** Creates the error for a file that is not a state file of this version. */
export const unreadableStateError = (path: string, cause: unknown): Error =>
  new Error(`${path} is not a state file of this emulator version. Delete it to start with an empty state.`, { cause });

/** Creates a state file and writes the state that `toState` returns. */
export function createStateFile(path: string, toState: () => EmulatorState): StateFile {
  let stateBytes = 0;
  let changedBytes = 0;
  /** The state in the file; undefined after a write has failed. */
  let written: EmulatorState | undefined;
  const compact = (): void => {
    const state = toState();
    const content = toLine(state);
    replaceFile(path, content);
    [stateBytes, changedBytes, written] = [content.length, 0, state];
  };
  const append = (before: EmulatorState): void => {
    const state = toState();
    const changes = computeChanges(before, state);
    if (changes.length === 0) return;
    const line = toLine(changes);
    written = undefined;
    appendFileSync(path, line);
    changedBytes += line.length;
    written = state;
  };
  compact();
  return {
    compact,
    save: () => {
      if (written === undefined || changedBytes > Math.max(stateBytes, minCompactedBytes)) compact();
      else append(written);
    },
  };
}

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Replaces the file atomically. */
function replaceFile(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.new`;
  // The state contains private keys of the emulator.
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}
