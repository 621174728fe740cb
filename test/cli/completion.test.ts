import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnCommand } from '../../testing/command-line.ts';

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;
/** The name in the command, if it differs from the name of the program. */
const shellNames: Readonly<Record<string, string>> = { pwsh: 'powershell' };
const quote = (text: string): string => `'${text}'`;

interface ShellDriver {
  readonly shell: string;
  /** Option that keeps the files of the user's shell out of the test. */
  readonly option: string;
  /** Builds a script of the shell that prints the completions of the last item, one a line. */
  buildScript(completion: string, items: readonly string[]): string;
}

const drivers: readonly ShellDriver[] = [
  {
    shell: 'bash',
    option: '--norc',
    buildScript: (completion, items) => `${completion}
COMP_WORDS=(${items.map(quote).join(' ')})
COMP_CWORD=${items.length - 1}
_claimcheck
printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  {
    shell: 'zsh',
    option: '--no-rcs',
    buildScript: (completion, items) => `compdef() { }
_describe() { print -l -- "\${(@P)2%%:*}" }
_files() { print -l -- *(N) }
${completion}
words=(${items.map(quote).join(' ')})
CURRENT=${items.length}
_claimcheck`,
  },
  {
    shell: 'fish',
    option: '--no-config',
    buildScript: (completion, items) => `${completion}
complete -C ${quote(items.join(' '))} | string replace -r '\\t.*' ''`,
  },
  {
    shell: 'pwsh',
    option: '-NoProfile',
    buildScript: (completion, items) => `${completion}
$line = ${quote(items.join(' '))}
[System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null).CompletionMatches.CompletionText`,
  },
];

describe.each(drivers)('claimcheck completion $shell', ({ shell, option, buildScript }) => {
  const itInShell = isInstalled(shell) ? it : it.skip;

  let completion: string;
  beforeAll(async () => {
    ({ out: completion } = await spawnCommand({}, ['completion', shellNames[shell] ?? shell]));
  });

  /** Returns the completions of the last item. */
  const complete = (...items: string[]): string[] => {
    const script = buildScript(completion, ['claimcheck', ...items]);
    const { stdout } = spawnSync(shell, [option, '-c', script], {
      encoding: 'utf8',
      cwd: new URL('../..', import.meta.url),
    });
    const current = items.at(-1) ?? '';
    const values = stdout.split('\n').filter((line) => line !== '' && line.startsWith(current));
    return values.sort();
  };

  itInShell('completes commands and subcommands', () => {
    expect(complete('')).toEqual(expect.arrayContaining(['app', 'key', 'completion']));
    expect(complete('not')).toEqual(['notifications']);
    expect(complete('key', '')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']));
    expect(complete('--folder', 'app', '--json', 'key', 'l')).toEqual(['list']);
  });

  itInShell('completes the options of the command and of the program', () => {
    expect(complete('key', 'create', 'demo', '--')).toEqual(expect.arrayContaining(['--level', '--json']));
    expect(complete('key', 'list', '--')).not.toContain('--level');
  });

  itInShell('completes the values of options and arguments', () => {
    expect(complete('key', 'create', '--level', '')).toEqual(['public', 'secret', 'support', 'viewer']);
    expect(complete('app', 'rotate-key', 'demo', '')).toEqual(['public', 'secret']);
    expect(complete('app', 'set-store', '--local', 'demo', 'store_')).toEqual(
      expect.arrayContaining(['store_a', 'store_b', 'store_c']),
    );
  });

  itInShell('completes no file for the name of an app, but for a file', () => {
    expect(complete('app', 'show-catalogue', '')).toEqual([]);
    expect(complete('app', 'set-catalogue', 'demo', 'pack')).toContain('package.json');
  });
});

describe('claimcheck completion', () => {
  it('prints a script for PowerShell with the commands and options', async () => {
    const { out } = await spawnCommand({}, ['completion', 'powershell']);
    expect(out).toContain("'key create --level' = @(,@('public', 'public'); ,@('secret', 'secret')");
    expect(out).toMatch(/^ {4}'key 0' = @\(,@\('create', '/m);
    expect(out).not.toMatch(/@\('[^']*', ''\)/);
  });

  it('needs no service, and rejects an unknown shell', async () => {
    expect(await spawnCommand({}, ['completion', 'bash'])).toMatchObject({ code: 0, error: '' });
    expect(await spawnCommand({}, ['completion', 'tcsh'])).toMatchObject({ code: 2, out: '' });
  });
});
