import { type Command, CommanderError } from 'commander';
import { createOutput } from './output.ts';

/** Exit codes of the command line. `found`: the command ran and found something, such as faults or differences. */
export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, found: 3 } as const;

/** The result of a command: `data` is printed with `--json`, `text` without it. */
export interface CommandResult {
  readonly data: unknown;
  readonly text: string;
  readonly exitCode?: number;
}

/** Code of the error that ends a command with an exit code after it has printed its result. */
export const exitErrorCode = 'claimcheck.exit';

/**
 * Makes an action of a commander command from a function that returns its result. The function receives the arguments
 * of the command, its options if it has any, and the output. It returns undefined if it has printed its results with
 * `output.line`. An `InvalidArgumentError` of commander reports wrong usage.
 */
export const printResult =
  (run: (...args: never[]) => Promise<CommandResult | undefined>) =>
  async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command;
    const values = args.slice(0, command.options.length > 0 ? -1 : -2);
    const output = createOutput(command);
    try {
      const result = await run(...([...values, output] as never[]));
      if (!result) return;
      output.result(result.data, result.text);
      if (result.exitCode) throw new CommanderError(result.exitCode, exitErrorCode, '');
    } finally {
      output.close();
    }
  };
