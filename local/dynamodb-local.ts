import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertPortFree, findFreePort } from './free-port.ts';
import { startupError } from './startup-error.ts';
import { killWithParent } from './tie-to-parent.ts';

/** A running DynamoDB Local. `pid` is absent if `DYNAMODB_ENDPOINT` points to an existing one. */
export interface DynamoDbLocal {
  readonly endpoint: string;
  readonly pid?: number;
  close(): Promise<void>;
}

interface Options {
  readonly port?: number;
  /** Data folder. Without it, all data is in memory. */
  readonly directory?: string;
}

/** Far above the second that a start takes: a machine can be busy with other work. */
const startTimeoutMs = 120_000;
const require = createRequire(import.meta.url);

/** Starts DynamoDB Local and waits until it responds. Uses the one at `DYNAMODB_ENDPOINT` if that is set. */
export async function startDynamoDbLocal({ port, directory }: Options = {}): Promise<DynamoDbLocal> {
  const { DYNAMODB_ENDPOINT } = process.env;
  if (DYNAMODB_ENDPOINT) return { endpoint: DYNAMODB_ENDPOINT, close: async () => {} };

  const boundPort = port ?? (await findFreePort());
  await assertPortFree(boundPort, 'DynamoDB Local');
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  const java = spawn(getJavaCommand(), buildJavaArguments(boundPort, directory), {
    // DynamoDB Local writes a metadata file into its working directory.
    cwd: directory ?? tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = captureOutput(java);
  const endpoint = `http://127.0.0.1:${boundPort}`;
  const watchdog = killWithParent(java);
  try {
    await waitUntilReady(java, endpoint);
  } catch {
    java.kill('SIGKILL');
    watchdog.release();
    throw startupError(explainFailure(output()));
  }
  java.unref();
  return { endpoint, ...(java.pid && { pid: java.pid }), close: () => stop(java).finally(watchdog.release) };
}

function getJavaCommand(): string {
  const { JAVA_HOME } = process.env;
  return JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : 'java';
}

function buildJavaArguments(port: number, directory: string | undefined): string[] {
  const emulator = join(dirname(require.resolve('amplify-dynamodb-simulator/package.json')), 'emulator');
  return [
    // Only the first compiler and a serial collector: starts a third faster and uses one core.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(emulator, 'DynamoDBLocal_lib')}`,
    '-jar',
    join(emulator, 'DynamoDBLocal.jar'),
    '-disableTelemetry',
    '-sharedDb',
    '-port',
    String(port),
    ...(directory === undefined ? ['-inMemory'] : ['-dbPath', '.']),
  ];
}

/** Reads the output of the process and returns a function that returns its beginning. */
function captureOutput(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      if (text.length < 8_000) text += chunk.toString();
    });
  }
  child.on('error', (error: NodeJS.ErrnoException) => {
    text += error.code ?? error.message;
  });
  return () => text;
}

async function waitUntilReady(child: ChildProcess, endpoint: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', () => {
    ended = true;
  });
  while (!ended && Date.now() < deadline) {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response && !ended) return;
    await sleep(30);
  }
  throw new Error('DynamoDB Local is unavailable.');
}

function explainFailure(output: string): string {
  const problem = /UnsupportedClassVersionError/.test(output)
    ? 'the installed Java is older'
    : /ENOENT|Unable to locate a Java/.test(output)
      ? 'Java is not installed'
      : `the start failed: ${firstLine(output)}`;
  return `DynamoDB Local requires Java 11 or later: ${problem}. Install Java (https://adoptium.net), or set DYNAMODB_ENDPOINT to a running DynamoDB Local, for example in Docker.`;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] || `no response within ${startTimeoutMs / 1000} seconds`;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
