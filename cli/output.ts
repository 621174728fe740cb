import type { Command } from 'commander';

/**
 * The streams of the command line, as commander configures them. A width is undefined if the stream is not a terminal.
 */
export interface Terminal {
  writeOut(text: string): void;
  writeErr(text: string): void;
  getOutHelpWidth(): number | undefined;
  getErrHelpWidth(): number | undefined;
}

/** The terminal as `createProgram` configures it: `writeErr` writes nothing with `--json`, and `writeNote` always. */
export interface ProgramTerminal extends Terminal {
  writeNote(text: string): void;
}

/** Output of a command while it runs. */
export interface Output {
  /** Columns of the terminal. Undefined if standard output is not a terminal: tables are plain then. */
  readonly width: number | undefined;
  /** Prints a result of many as soon as it is available: `text`, or with `--json` a line with `data`. */
  line(data: unknown, text: string): void;
  /**
   * Replaces the progress line on standard error. Does nothing with `--json` or if standard error is not a terminal.
   */
  progress(text: string): void;
  /** Prints a sentence on standard error, with `--json` as a document on one line. */
  note(text: string): void;
  /** Prints the only result: `text`, or with `--json` a document with `data`. */
  result(data: unknown, text: string): void;
  /** Returns a signal that is aborted when the operator ends the command (Ctrl-C). */
  listenForInterrupt(): AbortSignal;
  /** Ends the output: deletes the progress line and removes the listeners of interrupts. */
  close(): void;
}

/** Minimum time between two progress lines: terminals are slower than reads. */
const progressIntervalMs = 100;
const clearLine = '\r\u001b[K';

/** Creates the output of a command: to the streams and in the format that its program has. */
export function createOutput(command: Command): Output {
  const program = getProgram(command);
  const { writeOut, writeErr, writeNote, getOutHelpWidth, getErrHelpWidth } =
    program.configureOutput() as ProgramTerminal;
  const isJson = program.opts().json === true;
  const errorWidth = isJson ? undefined : getErrHelpWidth();
  let lastProgress = Number.NEGATIVE_INFINITY;
  const removals: (() => void)[] = [];
  const clearProgress = () => {
    if (lastProgress !== Number.NEGATIVE_INFINITY) writeErr(clearLine);
    lastProgress = Number.NEGATIVE_INFINITY;
  };
  const print = (text: string) => {
    clearProgress();
    if (text !== '') writeOut(`${toPrintable(text)}\n`);
  };
  return {
    width: getOutHelpWidth(),
    listenForInterrupt: () => listenForInterrupt(program, removals),
    close() {
      clearProgress();
      for (const remove of removals.splice(0)) remove();
    },
    line: (data, text) => print(isJson ? JSON.stringify(data) : text),
    result: (data, text) => print(isJson ? JSON.stringify(data, null, 2) : text),
    note(text) {
      clearProgress();
      writeNote(`${toPrintable(isJson ? JSON.stringify({ note: text }) : text)}\n`);
    },
    progress(text) {
      if (errorWidth === undefined || performance.now() - lastProgress < progressIntervalMs) return;
      lastProgress = performance.now();
      writeErr(`${clearLine}${toPrintable(text).slice(0, errorWidth - 1)}`);
    },
  };
}

/** Exit codes of shells for a program that a signal ended: 128 and the number of the signal. */
const signalExitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

const interruptCodes = new WeakMap<Command, number>();

/** Returns the exit code of a program whose command was interrupted and ended in order. */
export const findInterruptCode = (program: Command): number | undefined => interruptCodes.get(program);

/** Adds to `removals` how to remove the listeners. */
function listenForInterrupt(program: Command, removals: (() => void)[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const listener = (): void => {
      interruptCodes.set(program, signalExitCodes[signal]);
      controller.abort();
    };
    process.once(signal, listener);
    removals.push(() => process.off(signal, listener));
  }
  return controller.signal;
}

const getProgram = (command: Command): Command => (command.parent ? getProgram(command.parent) : command);

/** Control characters, but line feed and tab, and the characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed.
const controlPattern = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces control characters by their JSON escapes: usernames and responses of servers must not control the terminal.
 * JSON stays equivalent.
 */
export const toPrintable = (text: string): string =>
  text.replaceAll(controlPattern, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
