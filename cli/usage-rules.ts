import type { AddHelpTextContext, Argument, Command } from 'commander';
import { getCommandPath, listCommands } from './command-tree.ts';
import { parseAppName } from './option-parsers.ts';
import { programName } from './program-name.ts';

/** Arguments with the name of an app: `<name>` in the commands of `app`. */
const appArguments: readonly string[] = ['app', 'name'];

/** Applies the rules of usage to all commands: short errors that name the help, and valid names of apps. */
export function applyUsageRules(program: Command): void {
  for (const command of listCommands(program)) {
    const path = getCommandPath(command);
    command.showHelpAfterError(`Run ${programName} help${path && ` ${path}`} for the usage.`);
    for (const argument of command.registeredArguments) if (isAppArgument(argument)) argument.argParser(parseAppName);
  }
  program.addHelpText('beforeAll', rejectIncompleteCommand);
}

const isAppArgument = (argument: Argument): boolean => appArguments.includes(argument.name());

/** The first argument can be one of the default subcommand, as in `export my-app --help`. */
const hasDefault = (command: Command): boolean =>
  '_defaultCommandName' in command && typeof command._defaultCommandName === 'string';

/**
 * Rejects commands for which commander prints the help of their parent: `nope --help`, with the exit code of a success,
 * and a missing subcommand, with forty lines.
 */
function rejectIncompleteCommand({ command, error: isError }: AddHelpTextContext): string {
  const [name = ''] = command.args;
  const isKnown = command.commands.some((inner) => inner.name() === name || inner.aliases().includes(name));
  // The method of commander suggests the right name. Its types leave it out.
  if (command.commands.length > 0 && /^[^-]/.test(name) && !isKnown && !hasDefault(command))
    (command as Command & { unknownCommand(): never }).unknownCommand();
  if (isError && command.parent && name === '')
    command.error(`error: Pass a command: ${command.commands.map(getCommandPath).join(', ')}.`);
  return '';
}
