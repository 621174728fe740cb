import { describe, expect, it } from '@jest/globals';
import { getCommandPath, listLeafCommands } from '../../cli/command-tree.ts';
import { createSilentProgram, findCommand } from '../../testing/parse-command.ts';

/** Returns the examples in the help of a command. */
function listExamples(path: string): string[] {
  const { program, printed } = createSilentProgram();
  listLeafCommands(program)
    .find((leaf) => getCommandPath(leaf) === path)
    ?.outputHelp();
  return [...printed.join('').matchAll(/^ {2}claimcheck (.+)$/gm)].map(([, example]) => example ?? '');
}

/** Splits a command like a shell does: at spaces outside single quotes. Omits redirections. */
const splitArguments = (example: string): string[] =>
  [...example.replace(/ [<>|].*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const paths = listLeafCommands(createSilentProgram().program).map(getCommandPath);

describe('claimcheck', () => {
  it.each(paths)('prints examples in the help of %s, and each of them is valid', async (path) => {
    const examples = listExamples(path);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(await findCommand(splitArguments(example))).toBe(path);
  });

  it.each(paths)('accepts --json before and after %s', async (path) => {
    const [example = ''] = listExamples(path);
    expect(await findCommand(['--local', '--json', ...splitArguments(example)])).toBe(path);
    expect(await findCommand([...splitArguments(example), '--local', '--json'])).toBe(path);
  });

  it('uses different names for the options of the program and of its commands, because the program takes its own', () => {
    const { program } = createSilentProgram();
    const names = program.options.map(({ long }) => long);
    const options = listLeafCommands(program).flatMap((leaf) => leaf.options.map(({ long }) => long));
    expect(options.filter((option) => names.includes(option))).toEqual([]);
  });
});
