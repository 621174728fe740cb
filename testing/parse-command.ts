import type { Command } from 'commander';
import { getCommandPath, listLeafCommands } from '../cli/command-tree.ts';
import { createProgram } from '../cli/program.ts';

/** Returns the program with its output. No command connects to a service. */
export function createSilentProgram(): { readonly program: Command; readonly printed: string[] } {
  const printed: string[] = [];
  const program = createProgram(
    {
      writeOut: (text) => printed.push(text),
      writeErr: (text) => printed.push(text),
      getOutHelpWidth: () => 1_000,
      getErrHelpWidth: () => 1_000,
    },
    async () => {},
  );
  return { program, printed };
}

/** Parses a command and returns the path of the command that it runs, or the output of the parser. */
export async function findCommand(args: readonly string[]): Promise<string> {
  const { program, printed } = createSilentProgram();
  let path: string | undefined;
  for (const leaf of listLeafCommands(program)) {
    leaf.action(() => {
      path = getCommandPath(leaf);
    });
  }
  await program.parseAsync(args, { from: 'user' }).catch(() => undefined);
  return path ?? printed.join('');
}
