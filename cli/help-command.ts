import { Command, InvalidArgumentError } from 'commander';
import { findCommand, getCommandPath } from './command-tree.ts';
import { formatExamples } from './examples.ts';

/** `help`. Replaces the command of commander, which ignores the names after the first one. */
export function createHelpCommand(): Command {
  return new Command('help')
    .description('Describe a command, with examples')
    .argument('[command...]', 'names of the command, such as key create')
    .addHelpText('after', formatExamples('help', 'help key create'))
    .action((words: readonly string[], _options: object, help: Command) => {
      // Quotes make one argument of the names: `help "key create"`.
      const names = words.flatMap((word) => word.split(/\s+/)).filter(Boolean);
      const command = findCommand(help.parent as Command, names);
      // Aliases make the path differ from the names.
      const isFound = getCommandPath(command).split(' ').filter(Boolean).length === names.length;
      if (!isFound) throw new InvalidArgumentError(`Unknown command: ${names.join(' ')}. Run help for the commands.`);
      command.outputHelp();
    });
}
