import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import * as v from 'valibot';
import { findBundle, servicePrograms } from '../infra/program.js';
import { secondMs } from '../lib/foundation/time.ts';
import { buildCacheFolder } from '../local/build-cache.ts';
import { findFreePort } from '../local/free-port.ts';
import { buildBasicAuth } from '../testing/call.ts';
import type { BenchResult } from './bench-result.ts';
import { readProcessUsage } from './local/process-tree.ts';
import { readStartArguments } from './local/start-arguments.ts';

const runs = 5;
const validations = 200;
const concurrency = 4;
const idleMs = 60 * secondMs;

/** The work after the last validation: stream, webhooks and garbage collection. */
const settleMs = 30 * secondMs;

const Ready = v.object({ baseUrl: v.string(), emulatorUrl: v.string(), app: v.string(), publicKey: v.string() });
type Ready = v.InferOutput<typeof Ready>;
const Purchase = v.object({ validate: v.looseObject({}) });
const Validation = v.object({ ok: v.boolean() });

interface Start {
  readonly child: ChildProcess & { readonly pid: number };
  readonly folder: string;
  readonly ready: Ready;
  readonly firstLineSeconds: number;
  readonly readySeconds: number;
  readonly cpuSeconds: number;
}

/**
 * Measures `npm start` as a separate process, with its data in memory: starts without and with a build in the cache,
 * processor time while idle, and memory of the process tree before, after and 30 s after 200 validations. Linux only.
 */
export async function benchLocal(): Promise<BenchResult[]> {
  const starts = [];
  for (let run = 1; run <= runs; run++) {
    for (const kind of ['first', 'later'] as const) {
      if (kind === 'first') await deleteBuilds();
      const start = await startService();
      starts.push({ start: kind, run, ...toStartRow(start) });
      await stopService(start);
    }
  }
  const usage = [];
  for (let run = 1; run <= runs; run++) usage.push({ run, ...(await measureUsage()) });
  return [
    { id: 'starts', title: `Starts of \`npm start\` on ${availableParallelism()} cores`, rows: starts },
    {
      id: 'usage',
      title: `Process tree of \`npm start\`, with the table engine, and ${validations} validations`,
      rows: usage,
    },
  ];
}

/** Deletes what a clone lacks before its first start. */
async function deleteBuilds(): Promise<void> {
  for (const folder of [buildCacheFolder, join(findBundle(servicePrograms), '..')])
    await rm(folder, { recursive: true, force: true });
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

const toStartRow = ({ firstLineSeconds, readySeconds, cpuSeconds }: Start) => ({
  'first line s': round(firstLineSeconds, 2),
  'ready s': round(readySeconds, 1),
  'CPU s': round(cpuSeconds, 1),
  // Other processes of the machine lengthen a start.
  'load of the machine': round(loadavg()[0] ?? 0, 1),
});

async function measureUsage() {
  const start = await startService();
  const { pid } = start.child;
  try {
    await delay(settleMs);
    const before = readProcessUsage(pid);
    await delay(idleMs);
    const idle = readProcessUsage(pid);
    const startedAt = performance.now();
    await validateAll(start.ready);
    const seconds = (performance.now() - startedAt) / secondMs;
    const after = readProcessUsage(pid);
    await delay(settleMs);
    const settled = readProcessUsage(pid);
    return {
      'idle % of a core': round((100 * secondMs * (idle.cpuSeconds - before.cpuSeconds)) / idleMs, 2),
      'idle MB': Math.round(idle.memoryMb),
      'validations a second': round(validations / seconds, 1),
      'CPU ms of one': Math.round((secondMs * (after.cpuSeconds - idle.cpuSeconds)) / validations),
      'MB after them': Math.round(after.memoryMb),
      'MB 30 s later': Math.round(settled.memoryMb),
      'load of the machine': round(loadavg()[0] ?? 0, 1),
    };
  } finally {
    await stopService(start);
  }
}

/** Starts the service in its own folder, as in a fresh clone: the TypeScript loader of a build has an empty cache. */
async function startService(): Promise<Start> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-bench-'));
  const port = await findFreePort();
  const startedAt = performance.now();
  const getSeconds = (): number => (performance.now() - startedAt) / secondMs;
  const child = spawn(process.execPath, await readStartArguments(), {
    cwd: folder,
    env: { ...process.env, PORT: String(port), DATA: 'memory', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('npm start failed.');
  let firstLineSeconds: number | undefined;
  child.stdout.on('data', () => {
    firstLineSeconds ??= getSeconds();
  });
  for (;;) {
    const text = await readFile(join(folder, '.local', 'ready.json'), 'utf8').catch(() => '');
    const ready = v.safeParse(v.pipe(v.string(), v.parseJson(), Ready), text);
    if (ready.success) {
      const [readySeconds, { cpuSeconds }] = [getSeconds(), readProcessUsage(pid)];
      const started = { firstLineSeconds: firstLineSeconds ?? readySeconds, readySeconds, cpuSeconds };
      return { child: Object.assign(child, { pid }), folder, ready: ready.output, ...started };
    }
    if (child.exitCode !== null) throw new Error('npm start failed.');
    await delay(20);
  }
}

async function stopService({ child, folder }: Start): Promise<void> {
  child.kill('SIGINT');
  if (child.exitCode === null) await once(child, 'exit');
  await rm(folder, { recursive: true, force: true });
}

/** Buys and validates subscriptions, each of a new customer. */
async function validateAll({ baseUrl, emulatorUrl, app, publicKey }: Ready): Promise<void> {
  const headers = buildBasicAuth(app, publicKey);
  const post = async (url: string, body: object): Promise<unknown> =>
    await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  await pMap(
    Array.from({ length: validations }, (_value, number) => number),
    async (number) => {
      const purchase = {
        platform: 'store_a',
        productId: 'premium',
        type: 'paid subscription',
        applicationUsername: `customer-${number}`,
      };
      const { validate } = v.parse(Purchase, await post(`${emulatorUrl}/control/purchases`, purchase));
      const { ok } = v.parse(Validation, await post(`${baseUrl}/v1/validate`, validate));
      if (!ok) throw new Error('A validation failed.');
    },
    { concurrency },
  );
}
