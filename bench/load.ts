import { setTimeout as delay } from 'node:timers/promises';
import { hourMs, minuteMs, secondMs } from '../lib/foundation/time.ts';
import { findFreePort } from '../local/free-port.ts';
import { buildBasicAuth } from '../testing/call.ts';
import { waitFor } from '../testing/wait-for.ts';
import type { BenchResult } from './bench-result.ts';
import { fitSlope, type Point } from './linear-fit.ts';
import { sumProfileParts } from './load/cpu-profile.ts';
import { type LoadStep, sendLoad, summarizeTimes } from './load/send-load.ts';
import { sendRequest } from './load/send-request.ts';
import { connectService, control, type Recorder, sendNotificationsTo, setWebhookUrl } from './load/service-calls.ts';
import { type ServiceProcess, startServiceProcess } from './load/service-process.ts';
import { startWebhookRecorder } from './webhook-recorder.ts';

export interface LoadOptions {
  /** Duration of the steady rate. */
  readonly minutes: number;
  /** Default: any free port. The emulator uses the next one. */
  readonly port?: number;
}

/** Calls a second of the steps, and their duration. */
const rates = [5, 10, 20, 40, 80, 150, 300];
const stepMs = 10 * secondMs;

/**
 * The work of a step has ended when the processes take less than this share of a core for longer than the local runtime
 * waits between two batches of a stream.
 */
const maxIdleShare = 0.03;
const idleIntervalMs = secondMs;
const requiredIdleIntervals = 3;
const maxIdleIntervals = 60;

/** A kind of calls is not measured at a higher rate once a step exceeds this time at p99. */
const maxP99Ms = 5 * secondMs;

const warmUpCalls = 20;

const steadyRate = 10;
const profiledRate = 5;
const profiledCalls = 100;

/** Time for the counters and webhooks that follow from the profiled calls. */
const followUpMs = 5 * secondMs;
const sampleIntervalMs = 5 * secondMs;

interface Bench {
  readonly service: ServiceProcess;
  readonly recorder: Recorder;
  /** Purchases that are validated. */
  readonly purchases: Purchase[];
  /** Reads one item of the table, without the service. */
  readTable(): Promise<void>;
}

interface Purchase {
  readonly id: string;
  readonly username: string;
  readonly validate: object;
}

/**
 * Measures the service of `npm start` in its own process: validations, repeats, reads and notifications at rising
 * rates, each followed by as many reads of the table. Then measures its memory at a steady rate, and profiles another
 * process, which the profiler slows down.
 */
export async function benchLoad({ minutes, port: fixedPort }: LoadOptions): Promise<BenchResult[]> {
  const port = fixedPort ?? (await findFreePort());
  const results = await withService({ port, hasProfiler: false }, async (bench) => {
    const rows = [];
    for (const [name, prepare] of Object.entries(kinds)) rows.push(...(await measureKind(bench, name, prepare)));
    const webhookRows = await measureNotifications(bench);
    const memory = await measureMemory(bench, minutes);
    return [
      { id: 'requests', title: `Requests at rising rates, ${stepMs / secondMs} s each, and reads of the table`, rows },
      { id: 'webhooks', title: "Time from a store's notification to the first webhook attempt", rows: webhookRows },
      { id: 'memory', title: `Memory of the service at ${steadyRate} requests a second`, rows: memory },
    ];
  });
  const profile = await withService({ port, hasProfiler: true }, measureProfile);
  return [
    ...results,
    { id: 'profile', title: 'Processor time of a call by code, ms, with the profiler', rows: profile },
  ];
}

async function withService<T>(
  { port, hasProfiler }: { readonly port: number; readonly hasProfiler: boolean },
  measure: (bench: Bench) => Promise<T>,
): Promise<T> {
  const service = await startServiceProcess(port, { hasProfiler });
  const recorder = await startWebhookRecorder();
  try {
    const bench: Bench = { service, recorder, purchases: [], readTable: await createTableReader(service) };
    await stopNotifications(bench);
    await setWebhookUrl(service, recorder);
    await addPurchases(bench, 10);
    return await measure(bench);
  } finally {
    await recorder.close();
    await service.close();
  }
}

/** Prepares a number of calls. */
type Prepare = (bench: Bench, count: number) => Promise<(number: number) => Promise<void>>;

const kinds: Readonly<Record<string, Prepare>> = {
  'validation, new': async (bench, count) => {
    const bought = await buyAll(bench, count);
    return async (number) => {
      const purchase = pick(bought, number);
      await validate(bench.service, purchase);
      bench.purchases.push(purchase);
    };
  },
  'validation, repeated': async (bench) => async (number) =>
    await validate(bench.service, pick(bench.purchases, number)),
  'read, purchases of a customer': async (bench) => async (number) =>
    await readPurchases(bench.service, pick(bench.purchases, number)),
};

/** Measures calls of one kind at rising rates, until they are too slow. */
async function measureKind(bench: Bench, name: string, prepare: Prepare) {
  // Starts the instances of the function.
  await sendLoad({ rate: warmUpCalls, count: warmUpCalls }, await prepare(bench, warmUpCalls));
  const rows = [];
  for (const rate of rates) {
    const count = Math.round((rate * stepMs) / secondMs);
    const call = await prepare(bench, count);
    const { step, cpu } = await measureCpu(bench.service, count, async () => await sendLoad({ rate, count }, call));
    const tableStep = await sendLoad({ rate, count }, bench.readTable);
    rows.push(toRow(name, { step, cpu, tableStep }));
    if (step.errors > 0 || Number(summarizeTimes(step.timesMs)['p99 ms']) > maxP99Ms) break;
  }
  return rows;
}

/** Processor time of one call, with all work that follows from it, such as counters and webhooks. */
interface CallCpu {
  readonly 'CPU ms': number;
  /** The main thread: gateway, queues and emulated stores. */
  readonly 'main thread': number;
  /** The functions, and the threads that compile code and collect garbage. */
  readonly functions: number;
  readonly 'table engine': number;
}

/** Measures the processor time of calls until the processes are idle again. */
async function measureCpu(service: ServiceProcess, count: number, run: () => Promise<LoadStep>) {
  await waitUntilIdle(service);
  const before = service.readUsage();
  const step = await run();
  await waitUntilIdle(service);
  const after = service.readUsage();
  const perCall = (seconds: number): number => Number(((seconds * secondMs) / count).toFixed(1));
  const total = after.cpuSeconds - before.cpuSeconds;
  const main = after.mainThreadSeconds - before.mainThreadSeconds;
  const engine = after.childrenSeconds - before.childrenSeconds;
  const cpu: CallCpu = {
    'CPU ms': perCall(total),
    'main thread': perCall(main),
    functions: perCall(total - main - engine),
    'table engine': perCall(engine),
  };
  return { step, cpu };
}

async function waitUntilIdle({ readUsage }: ServiceProcess): Promise<void> {
  let idleIntervals = 0;
  for (let interval = 0; interval < maxIdleIntervals && idleIntervals < requiredIdleIntervals; interval++) {
    const before = readUsage().cpuSeconds;
    await delay(idleIntervalMs);
    const isIdle = (readUsage().cpuSeconds - before) * secondMs < maxIdleShare * idleIntervalMs;
    idleIntervals = isIdle ? idleIntervals + 1 : 0;
  }
}

/** Profiles calls of each kind, with all work that follows from them. The table engine is another process. */
async function measureProfile(bench: Bench) {
  const { service } = bench;
  const rows = [];
  for (const [name, prepare] of Object.entries(kinds)) {
    await sendLoad({ rate: warmUpCalls, count: warmUpCalls }, await prepare(bench, warmUpCalls));
    const call = await prepare(bench, profiledCalls);
    const before = service.readUsage();
    const profiles = await service.profile(async () => {
      await sendLoad({ rate: profiledRate, count: profiledCalls }, call);
      // The profiler keeps the threads from being idle.
      await delay(followUpMs);
    });
    const engineSeconds = service.readUsage().childrenSeconds - before.childrenSeconds;
    const parts = { ...sumProfileParts(profiles), 'table engine': engineSeconds * secondMs };
    const perCall = Object.entries(parts).map(([part, ms]) => [part, Number((ms / profiledCalls).toFixed(1))] as const);
    rows.push({ call: name, ...Object.fromEntries(perCall) });
  }
  return rows;
}

interface MeasuredStep {
  readonly step: LoadStep;
  readonly cpu?: CallCpu;
  readonly tableStep: LoadStep;
}

function toRow(call: string, { step: { rate, timesMs, errors, achieved }, cpu, tableStep }: MeasuredStep) {
  const table = summarizeTimes(tableStep.timesMs);
  return {
    call,
    'a second': rate,
    achieved: Number(achieved.toFixed(1)),
    ...summarizeTimes(timesMs),
    ...cpu,
    errors,
    'table p50 ms': table['p50 ms'],
    'table p99 ms': table['p99 ms'],
    'table errors': tableStep.errors,
  };
}

/** Renews subscriptions at rising rates. The time ends when the app's server has the webhook. */
async function measureNotifications(bench: Bench) {
  const { service, recorder } = bench;
  await sendNotificationsTo(service, `${service.baseUrl}/v3/webhook/store_a/${service.app}`);
  const rows = [];
  for (const rate of rates) {
    const count = Math.round((rate * stepMs) / secondMs);
    if (bench.purchases.length < count) await addPurchases(bench, count - bench.purchases.length);
    recorder.webhooks.splice(0);
    const renewedAt = new Map<string, number>();
    const renew = async (number: number): Promise<void> => {
      const { id } = pick(bench.purchases, number);
      renewedAt.set(`store_a:${id}`, performance.now());
      await control(service, `/purchases/${encodeURIComponent(id)}/renew`, {});
    };
    let times: readonly number[] = [];
    const { step, cpu } = await measureCpu(service, count, async () => {
      const sent = await sendLoad({ rate, count }, renew);
      times = await waitForWebhooks(recorder, renewedAt);
      return sent;
    });
    const tableStep = await sendLoad({ rate, count }, bench.readTable);
    const errors = step.errors + renewedAt.size - times.length;
    const row = toRow('notification', { step: { ...step, timesMs: times, errors }, cpu, tableStep });
    rows.push(row);
    if (row.errors > 0 || Number(row['p99 ms']) > 4 * maxP99Ms) break;
  }
  return rows;
}

/** Waits for the webhook of each renewal. Returns their times; fewer than renewals after three minutes. */
async function waitForWebhooks({ webhooks }: Recorder, renewedAt: ReadonlyMap<string, number>): Promise<number[]> {
  const listTimes = (): number[] => {
    const firstAt = new Map<string, number>();
    for (const { purchaseId, receivedAt, reason } of webhooks)
      if (reason === 'RENEWED' && !firstAt.has(purchaseId)) firstAt.set(purchaseId, receivedAt);
    return [...renewedAt].flatMap(([purchaseId, at]) => {
      const receivedAt = firstAt.get(purchaseId);
      return receivedAt === undefined ? [] : [receivedAt - at];
    });
  };
  const isComplete = (times: readonly number[]): boolean => times.length === renewedAt.size;
  return await waitFor('webhooks', async () => listTimes(), isComplete).catch(listTimes);
}

/**
 * Calls the service at a steady rate and samples its memory. The growth is fitted to the minimum of each minute of the
 * second half, because memory that Node releases later is not growth.
 */
async function measureMemory(bench: Bench, minutes: number) {
  await stopNotifications(bench);
  const startedAt = performance.now();
  const endsAt = startedAt + minutes * minuteMs;
  const samples: Point[] = [];
  let errors = 0;
  let calls = 0;
  const sampling = (async () => {
    while (performance.now() < endsAt) {
      samples.push({ x: performance.now() - startedAt, y: bench.service.readUsage().memoryMb });
      await delay(sampleIntervalMs);
    }
  })();
  while (performance.now() < endsAt) {
    const step = await sendLoad({ rate: steadyRate, count: steadyRate }, async (number) => {
      const purchase = pick(bench.purchases, calls + number);
      if (number % 2 === 0) await validate(bench.service, purchase);
      else await readPurchases(bench.service, purchase);
    });
    calls += steadyRate;
    errors += step.errors;
  }
  await sampling;
  const growth = fitSlope(listMinima(samples.filter(({ x }) => x >= (minutes * minuteMs) / 2))) * hourMs;
  const memory = samples.map(({ y }) => y);
  return [
    {
      minutes,
      calls,
      errors,
      'first MB': Math.round(memory[0] ?? Number.NaN),
      'last MB': Math.round(memory.at(-1) ?? Number.NaN),
      'max MB': Math.round(Math.max(...memory)),
      // A short run has too few minutes.
      'growth MB an hour': Number.isNaN(growth) ? '' : Number(growth.toFixed(1)),
    },
  ];
}

/** Returns the point with the lowest value of each minute. */
export function listMinima(samples: readonly Point[]): Point[] {
  const minima = new Map<number, Point>();
  for (const sample of samples) {
    const minute = Math.floor(sample.x / minuteMs);
    const lowest = minima.get(minute);
    if (!lowest || sample.y < lowest.y) minima.set(minute, sample);
  }
  return [...minima.values()];
}

async function createTableReader(service: ServiceProcess): Promise<() => Promise<void>> {
  await connectService(service);
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { appKey } = await import('../lib/foundation/keys.ts');
  const { table } = getService();
  return async () => {
    if (!(await table.get(appKey(service.app)))) throw new Error('The app is not found.');
  };
}

const stopNotifications = async ({ service }: Bench): Promise<void> => await sendNotificationsTo(service, null);

let customerCount = 0;

async function buyAll({ service }: Bench, count: number): Promise<Purchase[]> {
  const purchases: Purchase[] = [];
  for (let number = 0; number < count; number++) {
    const username = `customer-${++customerCount}`;
    const product = { platform: 'store_a', productId: 'premium', type: 'paid subscription' };
    const bought = await control(service, '/purchases', { ...product, applicationUsername: username });
    purchases.push({ ...(bought as Pick<Purchase, 'id' | 'validate'>), username });
  }
  return purchases;
}

/** Buys and validates purchases, one after the other. */
async function addPurchases(bench: Bench, count: number): Promise<void> {
  for (const purchase of await buyAll(bench, count)) {
    await validate(bench.service, purchase);
    bench.purchases.push(purchase);
  }
}

const pick = (purchases: readonly Purchase[], number: number): Purchase => {
  const purchase = purchases[number % purchases.length];
  if (!purchase) throw new Error('No purchase is validated.');
  return purchase;
};

async function validate({ baseUrl, app, publicKey }: ServiceProcess, purchase: Purchase): Promise<void> {
  const { status, text } = await sendRequest(`${baseUrl}/v1/validate`, {
    method: 'POST',
    headers: buildBasicAuth(app, publicKey),
    body: JSON.stringify(purchase.validate),
  });
  const { ok, message } = JSON.parse(text) as { readonly ok: boolean; readonly message?: string };
  if (!ok) throw new Error(`validate: ${status} ${message}`);
}

async function readPurchases({ baseUrl, app, secretKey }: ServiceProcess, { username }: Purchase): Promise<void> {
  const url = `${baseUrl}/v3/customers/${username}/purchases`;
  const { status } = await sendRequest(url, { headers: buildBasicAuth(app, secretKey) });
  if (status !== 200) throw new Error(`purchases: ${status}`);
}
