import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import { minuteMs, secondMs } from '../lib/foundation/time.ts';
import { toUtcDay } from '../lib/money/daily-rates.ts';
import { listCounterMonths } from '../lib/statistics/counter-table.ts';
import { findFreePort } from '../local/free-port.ts';
import { buildBasicAuth } from '../testing/call.ts';
import { buildProxyEvent } from '../testing/proxy-event.ts';
import { waitFor } from '../testing/wait-for.ts';
import type { BenchResult } from './bench-result.ts';
import type { ValidationReport } from './launch/validation-process.ts';
import { startValidationProcesses, type ValidationProcesses } from './launch/validation-processes.ts';
import { summarizeTimes } from './load/send-load.ts';
import { control, type Recorder, sendNotificationsTo, setWebhookUrl } from './load/service-calls.ts';
import { type ServiceProcess, startServiceProcess } from './load/service-process.ts';
import { startWebhookRecorder } from './webhook-recorder.ts';

/** New purchases a second of the launch, and lower rates that are tried first. */
const rates = [5, 10, 25, 50, 100, 250, 500, 1_000];
const stepMs = 5 * secondMs;

/** A rate is reached if the purchases end in this share of it. */
const minShare = 0.9;
const warmUpCount = 40;

interface Bench {
  readonly service: ServiceProcess;
  readonly recorder: Recorder;
  readonly processes: ValidationProcesses;
}

/**
 * Validates new purchases of new customers, at the rate of the launch or at the highest rate that this machine reaches.
 * Processes call the built function directly. `npm start` runs the stream, the queues and the other functions.
 * Then compares all counters with the items of the table.
 */
export async function benchLaunch({ minutes }: { readonly minutes: number }): Promise<BenchResult[]> {
  const service = await startServiceProcess(await findFreePort());
  const recorder = await startWebhookRecorder();
  const processCount = availableParallelism();
  const processes = await startValidationProcesses(processCount, service.environment);
  try {
    Object.assign(process.env, service.environment);
    const bench: Bench = { service, recorder, processes };
    await sendNotificationsTo(service, null);
    await setWebhookUrl(service, recorder);
    const before = await countRows(service);
    const steps = await findRate(bench);
    const reached = Math.min(rates.at(-1) ?? 0, Math.floor(Math.max(...steps.map(({ achieved }) => achieved))));
    const launch = await measureStep(bench, reached, Math.round((reached * minutes * minuteMs) / secondMs));
    const validated =
      warmUpCount + [...steps, launch].reduce((sum, { purchases, errors }) => sum + purchases - errors, 0);
    return [
      {
        id: 'rates',
        title: `New purchases by ${processCount} processes of validate-receipt, the last row for ${minutes} min`,
        rows: [...steps, launch],
      },
      { id: 'counters', title: 'Counters after the launch', rows: [await checkCounters(bench, before, validated)] },
    ];
  } finally {
    recorder.close();
    await processes.close();
    await service.close();
  }
}

/** Measures rising rates until one is not reached. */
async function findRate(bench: Bench) {
  await measureStep(bench, warmUpCount, warmUpCount);
  const steps: Awaited<ReturnType<typeof measureStep>>[] = [];
  for (const rate of rates) {
    const step = await measureStep(bench, rate, (rate * stepMs) / secondMs);
    steps.push(step);
    if (step.achieved < minShare * rate) break;
  }
  return steps;
}

async function measureStep({ service, processes }: Bench, rate: number, count: number) {
  const events = await buyAll(service, count);
  const startedAt = performance.now();
  const reports = await processes.run(events, rate);
  const seconds = (performance.now() - startedAt) / secondMs;
  const sum = (select: (report: ValidationReport) => number) =>
    reports.reduce((total, report) => total + select(report), 0);
  const error = reports.find((report) => report.error !== undefined)?.error;
  return {
    'a second': rate,
    achieved: Number((count / seconds).toFixed(1)),
    purchases: count,
    ...summarizeTimes(reports.flatMap(({ timesMs }) => timesMs)),
    'CPU ms each': Number((sum(({ cpuMs }) => cpuMs) / count).toFixed(1)),
    errors: sum(({ errors }) => errors),
    ...(error !== undefined && { error }),
  };
}

let customerCount = 0;

/** Buys subscriptions of new customers. Returns the requests that validate them. */
async function buyAll(service: ServiceProcess, count: number): Promise<object[]> {
  const headers = { ...buildBasicAuth(service.app, service.publicKey), 'content-type': 'application/json' };
  const product = { platform: 'store_a', productId: 'premium', type: 'paid subscription' };
  const usernames = Array.from({ length: count }, () => `launch-${++customerCount}`);
  return await pMap(
    usernames,
    async (applicationUsername) => {
      const bought = await control(service, '/purchases', { ...product, applicationUsername });
      const { validate } = bought as { readonly validate: object };
      return buildProxyEvent({ httpMethod: 'POST', path: '/v1/validate', headers, body: JSON.stringify(validate) });
    },
    { concurrency: 10 },
  );
}

/** Returns the counted purchases, transactions and customers of the app. */
async function countRows({ app }: ServiceProcess) {
  const { getService } = await import('../lib/foundation/container.ts');
  const months = await listCounterMonths(getService(), app);
  const sum = (name: string) => months.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);
  return { purchases: sum('P'), transactions: sum('T'), customers: sum('C') };
}

type CountedRows = Awaited<ReturnType<typeof countRows>>;

/** Waits for the webhooks and for the aggregation of the stream, and recounts all items. */
async function checkCounters({ service, recorder }: Bench, before: CountedRows, validated: number) {
  const startedAt = performance.now();
  const { getService } = await import('../lib/foundation/container.ts');
  const { waitForStream } = await import('../lib/statistics/wait-for-stream.ts');
  const { recount } = await import('../lib/statistics/recount.ts');
  const listIds = async () => new Set(recorder.webhooks.map(({ purchaseId }) => purchaseId));
  await waitFor('webhooks', listIds, (ids) => ids.size >= validated);
  const webhooksSeconds = Math.round((performance.now() - startedAt) / secondMs);
  await waitForStream(getService(), service.app, async (ms) => await delay(ms));
  const after = await countRows(service);
  const day = toUtcDay(Date.now());
  const differences = await recount(getService(), service.app, [toUtcDay(Date.now() - minuteMs * 60), day]);
  return {
    validated,
    purchases: after.purchases - before.purchases,
    transactions: after.transactions - before.transactions,
    customers: after.customers - before.customers,
    'purchases with webhook': (await listIds()).size,
    'webhooks after s': webhooksSeconds,
    'counters after s': Math.round((performance.now() - startedAt) / secondMs),
    'counters that differ': differences.length,
  };
}
