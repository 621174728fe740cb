import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startupError } from '../startup-error.ts';
import { killWithParent } from '../tie-to-parent.ts';
import type { TableEngine } from './table-engine.ts';

interface EngineProcess {
  readonly port: number;
  readonly command: string;
  readonly commandArguments: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Deleted after the end of the process, even if this process is killed. */
  readonly temporaryFolder?: string;
  /** Builds the message of a failed start from the output of the process. */
  readonly explainFailure: (output: string) => string;
}

/** Far above the second that a start takes: a machine can be busy with other work. */
const startTimeoutMs = 120_000;
const pollIntervalMs = 10;

/** Starts the process of a table engine and waits until it responds on its port. It ends with this process. */
export async function startEngineProcess(engine: EngineProcess): Promise<TableEngine> {
  const { port, command, commandArguments, cwd, env = process.env, explainFailure, temporaryFolder } = engine;
  // Detached: Ctrl-C ends the engine only after the functions that use it.
  const child = spawn(command, commandArguments, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const output = captureOutput(child);
  const endpoint = `http://127.0.0.1:${port}`;
  const watchdog = killWithParent(child, temporaryFolder);
  try {
    await waitUntilReady(child, endpoint);
  } catch {
    child.kill('SIGKILL');
    watchdog.release();
    throw startupError(explainFailure(output()));
  }
  child.unref();
  let isClosing = false;
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!isClosing) resolve(signal === null ? `exit code ${code}` : signal);
    });
  });
  const close = async (): Promise<void> => {
    isClosing = true;
    await stop(child).finally(watchdog.release);
  };
  return { endpoint, ...(child.pid && { pid: child.pid }), ended, close };
}

/** Returns the first line of the output of a process that failed to start. */
export function describeOutput(output: string): string {
  return output.trim().split('\n')[0] || `no response within ${startTimeoutMs / 1000} seconds`;
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
    await sleep(pollIntervalMs);
  }
  throw new Error('The table engine is unavailable.');
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
