import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError } from 'commander';
import { ServiceError } from '../lib/foundation/errors.ts';
import { toPrintable } from './output.ts';

/**
 * Requires that the operator confirms an action that cannot be undone: with the name in an option, or typed at the
 * terminal. Throws `InvalidPayload` for another name, and `InvalidArgumentError` if the option
 * is missing without a terminal.
 */
export async function confirmName(
  name: string,
  confirmed: string | undefined,
  { question, option }: { readonly question: string; readonly option: string },
): Promise<void> {
  const answer = confirmed ?? (await promptName(question, option));
  if (answer !== name) throw new ServiceError('InvalidPayload', 'The name does not match. Nothing was changed.');
}

async function promptName(question: string, option: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new InvalidArgumentError(`The confirmation is missing: pass ${option}.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ends like a program that does not handle the signal, so that the shell sees the interrupt.
  terminal.once('SIGINT', () => {
    terminal.close();
    process.kill(process.pid, 'SIGINT');
  });
  const closed = once(terminal, 'close').then(() => '');
  try {
    return await Promise.race([terminal.question(`${toPrintable(question)} `), closed]);
  } finally {
    terminal.close();
  }
}
