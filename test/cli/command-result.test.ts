import { describe, expect, it } from '@jest/globals';
import { Command, InvalidArgumentError } from 'commander';
import { type CommandResult, printResult } from '../../cli/command-result.ts';
import { createOutput, type Output } from '../../cli/output.ts';

/** Streams that collect what is written. */
function createTerminal(width?: number) {
  const written = { out: '', error: '' };
  const terminal = {
    writeOut: (text: string) => {
      written.out += text;
    },
    writeErr: (text: string) => {
      written.error += text;
    },
    getOutHelpWidth: () => width ?? 0,
    getErrHelpWidth: () => width as number,
  };
  return { written, terminal };
}

/** Runs a command in a program, and returns what it printed. */
async function run(
  action: (output: Output) => Promise<CommandResult | undefined>,
  { args = [], width }: { args?: string[]; width?: number } = {},
): Promise<{ out: string; error: string; exitCode: number }> {
  const { written, terminal } = createTerminal(width);
  const program = new Command('program').option('--json').configureOutput(terminal).exitOverride();
  program.command('inner').action(printResult(action));
  const failure: { exitCode?: number } = await program.parseAsync(['inner', ...args], { from: 'user' }).then(
    () => ({}),
    (error: { exitCode?: number }) => error,
  );
  return { ...written, exitCode: failure.exitCode ?? 0 };
}

describe('printResult', () => {
  it('prints the text of the result', async () => {
    expect(await run(async () => ({ data: [1], text: 'One row.' }))).toEqual({
      out: 'One row.\n',
      error: '',
      exitCode: 0,
    });
  });

  it('prints the data of the result with --json', async () => {
    expect((await run(async () => ({ data: [1], text: 'One row.' }), { args: ['--json'] })).out).toBe('[\n  1\n]\n');
  });

  it('ends with the exit code of the result after it has printed the result', async () => {
    const result = await run(async () => ({ data: {}, text: 'A fault.', exitCode: 3 }));
    expect(result).toEqual({ out: 'A fault.\n', error: '', exitCode: 3 });
  });

  it('prints one JSON document a line for results that are printed as they are available', async () => {
    const printLines = async (output: Output) => {
      for (const id of [1, 2]) output.line({ id }, `row ${id}`);
      return undefined;
    };
    expect((await run(printLines, { args: ['--json'] })).out).toBe('{"id":1}\n{"id":2}\n');
    expect((await run(printLines)).out).toBe('row 1\nrow 2\n');
  });

  const printProgress = async (output: Output) => {
    output.progress('100 purchases read, a long line');
    return { data: {}, text: 'Done.' };
  };

  it('prints progress on a terminal, on one line that the result replaces', async () => {
    const { out, error } = await run(printProgress, { width: 20 });
    expect({ out, error }).toEqual({ out: 'Done.\n', error: '\r\u001b[K100 purchases read,\r\u001b[K' });
  });

  it('prints no progress without a terminal or with --json', async () => {
    expect((await run(printProgress)).error).toBe('');
    expect((await run(printProgress, { width: 20, args: ['--json'] })).error).toBe('');
  });

  it('escapes control characters, which could control the terminal', async () => {
    const result = { data: { name: 'a\u009b2Jb' }, text: 'a\u001b[2Jb\u202ec\nd' };
    expect((await run(async () => result)).out).toBe('a\\u001b[2Jb\\u202ec\nd\n');
    const { out } = await run(async () => result, { args: ['--json'] });
    expect(out).not.toContain('\u009b');
    expect(JSON.parse(out)).toEqual(result.data);
  });

  it('removes the listeners of interrupts with the end of the command, even after an error', async () => {
    const count = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    const before = count();
    const listen = async (output: Output) => {
      output.listenForInterrupt();
      expect(count()).toBe(before + 2);
      throw new InvalidArgumentError('Pass an app.');
    };
    await run(listen);
    expect(count()).toBe(before);
  });

  it('deletes the progress line before an error', async () => {
    const { error } = await run(
      async (output) => {
        output.progress('1 purchase read');
        throw new InvalidArgumentError('Pass an app.');
      },
      { width: 40 },
    );
    expect(error).toBe('\r\u001b[K1 purchase read\r\u001b[K');
  });
});

describe('createOutput', () => {
  it('returns the width of the terminal of its program', () => {
    const { terminal } = createTerminal(33);
    const program = new Command().configureOutput(terminal);
    expect(createOutput(program.command('inner')).width).toBe(33);
  });
});
