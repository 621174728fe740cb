import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import * as v from 'valibot';
import { projectFolder } from '../../infra/project-folder.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { type ProcessUsage, readProcessUsage } from '../local/process-tree.ts';
import { readStartArguments } from '../local/start-arguments.ts';

const Ready = v.object({
  baseUrl: v.string(),
  emulatorUrl: v.string(),
  app: v.string(),
  publicKey: v.string(),
  secretKey: v.string(),
});
const Runtime = v.object({ environment: v.record(v.string(), v.string()) });

/** The service of `npm start` in its own process, with its data in memory. */
export interface ServiceProcess extends v.InferOutput<typeof Ready> {
  /** Environment with which an operator calls the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Processor time and memory of the process and the table engine. Linux only. */
  readUsage(): ProcessUsage;
  /** Returns the profiles of all threads while `run` runs. Only of a service that is started with the profiler. */
  profile(run: () => Promise<unknown>): Promise<readonly Profiler.Profile[]>;
  close(): Promise<void>;
}

/** Starts the service on `port` and the emulator on the next port. */
export async function startServiceProcess(
  port: number,
  { hasProfiler = false }: { readonly hasProfiler?: boolean } = {},
): Promise<ServiceProcess> {
  const preloads = hasProfiler ? ['tsx', './bench/profiler.ts'] : [];
  const args = [...preloads.flatMap((name) => ['--import', name]), ...(await readStartArguments())];
  const child = spawn(process.execPath, args, {
    cwd: projectFolder,
    env: { ...process.env, PORT: String(port), DATA: 'memory' },
    stdio: ['ignore', 'ignore', 'inherit', ...(hasProfiler ? ['ipc' as const] : [])],
  });
  const askProfiler = async (message: 'start' | 'stop') => {
    child.send(message);
    return (await once(child, 'message'))[0];
  };
  const profile = async (run: () => Promise<unknown>) => {
    await askProfiler('start');
    await run();
    return await askProfiler('stop');
  };
  const close = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  try {
    const { ready, environment } = await waitUntilReady(port, () => child.exitCode);
    return { ...ready, environment, close, profile, readUsage: () => readProcessUsage(child.pid ?? 0) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits for the files that the service writes for scripts: in its own folder if another service runs. */
async function waitUntilReady(port: number, getExitCode: () => number | null) {
  const read = async () => {
    if (getExitCode() !== null) throw new Error('npm start failed.');
    for (const folder of [join('.local', `port-${port}`), '.local']) {
      const ready = await readJson(join(projectFolder, folder, 'ready.json'), Ready);
      const runtime = await readJson(join(projectFolder, folder, 'runtime.json'), Runtime);
      if (ready && runtime && new URL(ready.baseUrl).port === String(port)) return { ready, ...runtime };
    }
    return undefined;
  };
  const found = await waitFor('npm start', read, (result) => result !== undefined);
  if (!found) throw new Error('npm start is not ready.');
  return found;
}

async function readJson<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S> | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  return parsed.success ? parsed.output : undefined;
}
