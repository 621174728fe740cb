import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../cli/output.ts';
import { buildCommandLine as buildBundle } from '../infra/build-command-line.ts';
import { projectFolder } from '../infra/project-folder.ts';
import { newKeyDelayMs } from '../lib/apps/app-table.ts';
import { stores } from '../lib/stores/index.ts';
import { linkBuild } from '../local/build-cache.ts';

/** The output and the exit code of a command. */
export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The table of the commands in this process, whose connections stay open. */
let connectedTable: string | undefined;

let storesLoaded: Promise<void> | undefined;

/**
 * Loads the adapters one after the other: jest fails if two concurrent imports load the same ES module of a package.
 */
async function loadStores(): Promise<void> {
  for (const load of Object.values(stores)) await load();
  // Loading can take seconds: `fetch` must learn first which idle connections the servers have closed.
  await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Runs a command in this process, which takes a tenth of the time of a separate process. The first command loads the
 * program and the adapters, which takes the time of eight processes. Its connections belong to the first command of the
 * test file, and `input` is a file instead of `-`. For a few commands, interrupts, standard input or a second service,
 * use `spawnCommand`.
 */
export async function runCommand(
  environment: Environment,
  args: readonly string[],
  input?: string,
): Promise<CommandOutcome> {
  connectedTable ??= environment.TABLE_NAME;
  if (environment.TABLE_NAME !== connectedTable) throw new Error('Use spawnCommand for a second service.');
  storesLoaded ??= loadStores();
  await storesLoaded;
  const { runProgram } = await import('../cli/run-program.ts');
  const file = join(tmpdir(), `claimcheck-input-${randomUUID()}`);
  if (input !== undefined) writeFileSync(file, input);
  const realEnvironment = { ...process.env };
  Object.assign(process.env, environment);
  let [out, error] = ['', ''];
  const terminal: Terminal = {
    writeOut: (written) => {
      out += written;
    },
    writeErr: (written) => {
      error += written;
    },
    getOutHelpWidth: () => undefined,
    getErrHelpWidth: () => undefined,
  };
  try {
    const inputArgs = input === undefined ? args : args.map((arg) => (arg === '-' ? file : arg));
    const code = await runWithOwnDate(async () => await runProgram(inputArgs, terminal));
    return { code, out, error };
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in realEnvironment)) delete process.env[name];
    Object.assign(process.env, realEnvironment);
    rmSync(file, { force: true });
  }
}

const ownDates = new AsyncLocalStorage<{ date: DateConstructor }>();

/**
 * Runs a command with its own `Date`: it takes over the clock of the emulator, but servers of this process must
 * not.
 */
async function runWithOwnDate<T>(run: () => Promise<T>): Promise<T> {
  const RealDate = ownDates.getStore()?.date ?? Date;
  Object.defineProperty(globalThis, 'Date', {
    configurable: true,
    get: () => ownDates.getStore()?.date ?? RealDate,
    set: (date: DateConstructor) => {
      const own = ownDates.getStore();
      if (own) own.date = date;
    },
  });
  try {
    return await ownDates.run({ date: RealDate }, run);
  } finally {
    Object.defineProperty(globalThis, 'Date', { configurable: true, writable: true, value: RealDate });
    RealDate.prototype.constructor = RealDate;
  }
}

/** Runs a command that must succeed, and returns its output. */
export async function runSuccessfully(
  environment: Environment,
  args: readonly string[],
  input?: string,
): Promise<string> {
  return getOutput(args, await runCommand(environment, args, input));
}

/** Issues a viewer key of an app, like an operator. Waits until running functions accept it. */
export async function issueViewerKey(
  { environment }: { readonly environment: Environment },
  appName = 'demo',
): Promise<string> {
  const name = `support ${randomUUID()}`;
  const out = await spawnSuccessfully(environment, ['key', 'create', appName, '--level', 'viewer', '--name', name]);
  const [key] = /view_[\w-]+/.exec(out) ?? [];
  if (key === undefined) throw new Error(`The command printed no key: ${out}`);
  await sleep(newKeyDelayMs);
  return key;
}

/** The bundle for this test file: it starts in a fifth of the time that the sources need. */
let bundle: Promise<string> | undefined;

async function buildCommandLine(): Promise<string> {
  const outdir = await mkdtemp(join(tmpdir(), 'claimcheck-cli-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  await linkBuild('cli', outdir, async (folder) => {
    await buildBundle(folder);
  });
  return join(outdir, 'main.mjs');
}

/** Returns the path of a bundle of the sources, built once for each test file. */
export async function getCommandLine(): Promise<string> {
  bundle ??= buildCommandLine();
  return await bundle;
}

/** Starts a command as a separate process, from a bundle of the sources. */
export async function startCommand(environment: Environment, args: readonly string[], { cwd = projectFolder } = {}) {
  const { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: _disabled, ...env } = { ...process.env, ...environment };
  return spawn(process.execPath, [await getCommandLine(), ...args], { cwd, env });
}

/** Runs a command as a separate process, and returns its exit code and output. */
export async function spawnCommand(
  environment: Environment,
  args: readonly string[],
  input = '',
): Promise<CommandOutcome> {
  const command = await startCommand(environment, args);
  command.stdin.end(input);
  const ended = once(command, 'exit');
  const [out, error] = await Promise.all([text(command.stdout), text(command.stderr)]);
  const [code] = (await ended) as [number];
  return { code, out, error };
}

/** Runs a command that must succeed as a separate process, and returns its output. */
export async function spawnSuccessfully(
  environment: Environment,
  args: readonly string[],
  input?: string,
): Promise<string> {
  return getOutput(args, await spawnCommand(environment, args, input));
}

function getOutput(args: readonly string[], { code, out, error }: CommandOutcome): string {
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${error}${out}`);
  return out;
}
