import type { Command } from 'commander';

/** Lists a command and all commands below it. */
export const listCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(listCommands)];

/** Lists the commands without subcommands: the ones that do something. */
export const listLeafCommands = (program: Command): Command[] =>
  listCommands(program).filter(({ commands }) => commands.length === 0);

/** Returns the names of a command and its parents without the program, such as `key create`. Empty for the program. */
export const getCommandPath = (command: Command): string =>
  command.parent ? `${getCommandPath(command.parent)} ${command.name()}`.trimStart() : '';

/** Returns the deepest command that the names lead to. Arguments after its names are ignored. */
export function findCommand(command: Command, [name, ...rest]: readonly string[]): Command {
  const inner = command.commands.find((child) => name === child.name() || child.aliases().includes(name ?? ''));
  return inner ? findCommand(inner, rest) : command;
}
