import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { getCommandPath, listCommands } from '../../cli/command-tree.ts';
import { consoleRoute } from '../../infra/console-route.ts';
import { deploymentOptionNames } from '../../infra/deployment-options.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { matchPath } from '../../lib/http/request.ts';
import { notificationEndpoints } from '../../lib/store-notifications/notification-endpoints.ts';
import { type CodeBlock, listCodeBlocks, listDocuments, listInlineCode } from '../../testing/documents.ts';
import { createSilentProgram, findCommand } from '../../testing/parse-command.ts';

const scripts: Readonly<Record<string, string>> = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
const npmCommands: ReadonlySet<string> = new Set(['ci', 'install', 'start', 'test', 'version']);

/** Languages of diagrams and of the output of commands. */
const plainLanguages: ReadonlySet<string> = new Set(['', 'text']);

/**
 * Programs of AWS, Google Cloud and the system, whose arguments are not checked. `test/infra` compares the commands of
 * the runbooks with the operator policy.
 */
const otherPrograms = /^(?:(?:aws|gcloud|openssl|git|cd|node|for|until|source|gem|pip|python3|curl|export)\b|[a-z]+=)/;

const testSources = readdirSync('test/docs').map((name) => readFileSync(join('test/docs', name), 'utf8'));

const isRunByTest = ({ file, name }: CodeBlock): boolean =>
  testSources.some((source) => source.includes(`'${file}'`) && source.includes(`'${name}'`));

const blocks = listDocuments().flatMap(listCodeBlocks);

/** The commands of a shell block, one a line: without comments, continued lines joined. */
const listShellCommands = ({ text }: CodeBlock): string[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');

const shellLines = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap((block) => listShellCommands(block).map((line) => [`${block.file}:${block.line}`, line] as const));

/**
 * Replaces placeholders such as `<app>` and `<Time>`, and the URL of the service. A day is valid for every argument
 * that is checked.
 */
const fillPlaceholders = (text: string): string =>
  text.replaceAll(/<[^<>]+>/g, '2026-01-31').replaceAll('$API', 'http://127.0.0.1:4000');

/** Returns the arguments of a command line of the CLI, or undefined if it is a different command. */
function parseCliArguments(line: string): string[] | undefined {
  const [, text] = /(?:npm run (?:-s |--silent )?cli --|^claimcheck|\$cli)(?= |$)(.*)/.exec(line) ?? [];
  // `cli=…` only names the program.
  if (text === undefined || /^(?:cli|alias)\b/.test(line)) return undefined;
  const [command = ''] = fillPlaceholders(text).split(/ [|<>] |\)$|"$/);
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

const { program } = createSilentProgram();
const commandByPath = new Map(listCommands(program).map((command) => [getCommandPath(command), command]));

/** Returns the command that runs without a subcommand, such as `export now` for `export`. */
const findDefaultCommand = (command: Command): Command | undefined => {
  const { _defaultCommandName: name } = command as Command & { readonly _defaultCommandName?: string };
  return command.commands.find((inner) => inner.name() === name);
};

/**
 * Returns what is wrong with a command in backticks, such as `app set-webhook <name> --off`. Undefined if it is
 * correct.
 */
function findFault(text: string): string | undefined {
  const words = text.replace(/^(?:npm run (?:-s )?cli --|claimcheck) /, '').split(' ');
  const paths = words.map((_, index) => words.slice(0, index + 1).join(' ')).filter((path) => commandByPath.has(path));
  const path = paths.at(-1);
  const command = path === undefined ? undefined : commandByPath.get(path);
  if (!command || command === program) return undefined;
  const next = words[paths.length] ?? '';
  const leaf = command.commands.length > 0 ? findDefaultCommand(command) : command;
  if (!leaf && /^[a-z-]+$/.test(next)) return `${text}: ${path} lacks the command ${next}`;
  const options = [...program.options, ...(leaf?.options ?? [])].map(({ long }) => long);
  const used = text.match(/(?<=[ [])--[a-z-]+/g) ?? [];
  const unknown = used.filter(
    (option) => !options.includes(option) && !options.includes(option.replace('--', '--no-')),
  );
  return unknown.length === 0 ? undefined : `${text}: unknown ${unknown.join(', ')}`;
}

const apiPaths = [...contracts.flatMap(({ path, aliases = [] }) => [path, ...aliases])];
const notificationPaths = notificationEndpoints.flatMap(({ paths }) => paths);

describe('code blocks of the documents', () => {
  it('contain a language that a test checks', () => {
    const unchecked = blocks.filter((block) => {
      if (plainLanguages.has(block.language)) return false;
      return block.language === 'sh' && block.name === undefined ? false : !isRunByTest(block);
    });
    expect(unchecked.map(({ file, line, language, name }) => ({ file, line, language, name }))).toEqual([]);
  });

  it('start programs that the reader has', () => {
    const named = new Set(blocks.filter(({ name }) => name !== undefined).map(({ file, line }) => `${file}:${line}`));
    const isKnown = (line: string) =>
      otherPrograms.test(line) ||
      /^(?:npm (?:run|ci|install|start|test)|npx (?:cdk|claimcheck|jest)|claimcheck|\$cli|cli=|\.ci\/|bash \.ci\/)\b/.test(
        line,
      ) ||
      /^(?:[A-Z_]+=\S* ?)+(?:(?:npm|node|python3|go|java|rackup|php) |$)/.test(line) ||
      /^[A-Z]+=\$\(|^ready\(\)/.test(line);
    expect(shellLines.filter(([place, line]) => !named.has(place) && !isKnown(line))).toEqual([]);
  });
});

describe('commands in the documents', () => {
  const inline = listDocuments()
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) => listInlineCode(file).map((text) => [file, text] as const));
  const all = [...shellLines, ...inline];

  it('run a script of package.json', () => {
    const used = all.flatMap(([place, text]) =>
      [...text.matchAll(/\bnpm (?:(run) (?:-s |--silent )?)?([a-z:]+)/g)].map(([, run, name = '']) => ({
        place,
        run,
        name,
      })),
    );
    expect(used.length).toBeGreaterThan(10);
    const isMissing = ({ run, name }: { run: string | undefined; name: string }) =>
      run ? !Object.hasOwn(scripts, name) : !npmCommands.has(name);
    expect(used.filter(isMissing)).toEqual([]);
  });

  it('follow the syntax of the command line', async () => {
    const commands = shellLines.flatMap(([place, line]) => {
      const args = parseCliArguments(line);
      return args ? [{ place, args }] : [];
    });
    expect(commands.length).toBeGreaterThan(10);
    for (const { args } of commands) expect([...commandByPath.keys()]).toContain(await findCommand(args));
  });

  it('name a command and options of the command line', () => {
    expect(inline.flatMap(([, text]) => findFault(text.replaceAll('…', 'x')) ?? [])).toEqual([]);
  });

  it('pass options of a deployment', () => {
    const names = new Set<string>(deploymentOptionNames);
    const used = all.flatMap(([, text]) => [...text.matchAll(/(?:^| )-c ([\w]+)=/g)].map(([, name = '']) => name));
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((name) => !names.has(name))).toEqual([]);
  });

  it('request a path of the API', () => {
    const paths = shellLines.flatMap(([, line]) =>
      [...line.matchAll(/\$(?:API|\{API\})(\/[^\s"'?]*)/g)].map(([, path = '']) => path.replaceAll('$', '')),
    );
    expect(paths.length).toBeGreaterThan(5);
    const known = [...apiPaths, ...notificationPaths, ...consoleRoute.paths];
    expect(paths.filter((path) => !known.some((template) => matchPath([template], path)))).toEqual([]);
  });
});
