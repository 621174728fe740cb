import type { Command, Option } from 'commander';
import { getCommandPath, listCommands } from '../command-tree.ts';

/** A value that a shell can complete. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** Completion of the value of an option or argument: from candidates, from files, or none. */
export interface ValueRule {
  readonly candidates: readonly Candidate[];
  readonly isFile: boolean;
}

interface OptionRule {
  /** Such as `--level`. */
  readonly flag: string;
  readonly description: string;
  /** Undefined for an option without value. */
  readonly value?: ValueRule;
}

/** The options and arguments that can follow a command. */
export interface CommandRule {
  /** Such as `key create`. Empty for the program. */
  readonly path: string;
  readonly options: readonly OptionRule[];
  /** Subcommands, or the values of the arguments. */
  readonly positions: readonly ValueRule[];
}

/** Lists the rules for the completion of all commands of a program, the program first. */
export const listCompletionRules = (program: Command): CommandRule[] =>
  listCommands(program).map((command) => ({
    path: getCommandPath(command),
    options: listOptions(command).map(toOptionRule),
    positions:
      command.commands.length > 0
        ? [toSubcommandRule(command)]
        : command.registeredArguments.map((argument) => toValueRule(argument.name(), argument.argChoices)),
  }));

/** The options of the program are valid after each command. */
const listOptions = (command: Command): Option[] => [
  ...command.createHelp().visibleOptions(command),
  ...command.createHelp().visibleGlobalOptions(command),
];

const toSubcommandRule = (command: Command): ValueRule => ({
  candidates: command.commands.map((inner) => ({ value: inner.name(), description: inner.description() })),
  isFile: false,
});

function toOptionRule({ flags, long, short, description, required, optional, argChoices }: Option): OptionRule {
  const hasValue = required || optional;
  return {
    flag: long ?? short ?? '',
    description,
    ...(hasValue && { value: toValueRule(flags, argChoices) }),
  };
}

/** The argument's name, or the flags of an option, show whether the value is a file. */
const toValueRule = (name: string, choices: readonly string[] = []): ValueRule => ({
  candidates: choices.map((value) => ({ value, description: '' })),
  isFile: /\b(?:file|path)\b/.test(name),
});
