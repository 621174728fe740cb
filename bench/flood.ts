import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import { minRequestsPerSecond } from '../lib/api/limits.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { secondMs } from '../lib/foundation/time.ts';
import type { BenchResult } from './bench-result.ts';
import {
  countBucketWrites,
  countExtraWrites,
  type Flood,
  listCredentialFloods,
  listKeyFloods,
} from './flood-requests.ts';
import { median } from './median.ts';
import { type MeteredService, withMeteredService } from './metered-service.ts';

const requestsPerSecond = 2_000;
const totalRequests = 20 * requestsPerSecond;
const validationIntervalMs = 100;
const keyFloods = 3;

/** Requests in progress at the same time, as with so many containers. Limits the rate on a slow machine. */
const maxConcurrency = 100;

/**
 * Measures floods of 40,000 requests at 2,000 a second, with ten validations a second at the same time. All requests,
 * the meter and the emulated stores run in this process. So a slow machine needs more than 20 s, the time of
 * validations includes the flood's own work, and the CPU time of a request includes the load generator's.
 */
export async function benchFlood(): Promise<readonly BenchResult[]> {
  return await withMeteredService(async (metered) => [
    await measureCredentialFloods(metered),
    await measureKeyFloods(metered),
  ]);
}

async function measureCredentialFloods(metered: MeteredService): Promise<BenchResult> {
  const keys = await metered.service.createApp(['store_a']);
  const rows = [];
  for (const flood of listCredentialFloods(keys.appName)) rows.push(await measureFlood(flood, keys, metered));
  return { title: `Floods of ${totalRequests} rejected requests, at most ${requestsPerSecond} a second`, rows };
}

/** Each flood has its own app with the lowest limit, so that the flood exceeds it early. */
async function measureKeyFloods({ service, ...metered }: MeteredService): Promise<BenchResult> {
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { changeSettings } = await import('../lib/apps/manage-apps.ts');
  const otherKeys = await service.createApp(['store_a']);
  const rows = [];
  for (let index = 0; index < keyFloods; index++) {
    const keys = await service.createApp(['store_a']);
    await changeSettings(getService(), keys.appName, { requestsPerSecond: minRequestsPerSecond });
    const receipt = await buyPremium(`flooder-${index}`, service);
    const flood = listKeyFloods(keys, receipt)[index] as Flood;
    rows.push(await measureFlood(flood, flood.usesUpKey ? otherKeys : keys, { service, ...metered }));
  }
  const title = `Floods of ${totalRequests} requests with the public key of an app whose limit is ${minRequestsPerSecond} requests a second`;
  return { title, rows };
}

const buyPremium = async (applicationUsername: string, service: MeteredService['service']): Promise<object> => {
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  return (await service.callControl('/purchases', order)).validate;
};

/** Validations with `keys` run at the same time as the flood. */
async function measureFlood(flood: Flood, keys: IssuedApiKeys, { service, meter }: MeteredService) {
  const receipt = await buyPremium(flood.name, service);
  await service.validate(keys, receipt);
  meter.takeCalls();
  const startedAt = performance.now();
  const startCpu = process.cpuUsage();
  const responses = sendFlood(flood);
  const validations = await validateUntilSettled(
    responses,
    async () => (await service.validate(keys, receipt)).body.ok === true,
  );
  const statuses = await responses;
  const seconds = (performance.now() - startedAt) / secondMs;
  const cpu = process.cpuUsage(startCpu);
  const calls = meter.takeCalls();
  const extraWrites = countExtraWrites(calls, validations.times.length);
  return {
    flood: flood.name,
    'a second': Math.round(totalRequests / seconds),
    'CPU ms each': Number(((cpu.user + cpu.system) / 1_000 / totalRequests).toFixed(2)),
    ...Object.fromEntries([200, 400, 401, 429].map((status) => [status, statuses.get(status) ?? 0])),
    'extra writes': extraWrites,
    'per 100 requests': Number(((100 * extraWrites) / totalRequests).toFixed(3)),
    'of the limiter, per 100': Number(((100 * countBucketWrites(calls)) / totalRequests).toFixed(3)),
    'validations ok': `${validations.accepted} of ${validations.times.length}`,
    'median ms': Math.round(median(validations.times)),
  };
}

/**
 * Sends all requests at the rate of the flood, or as fast as the machine can. Returns the number of responses by
 * status.
 */
async function sendFlood({ contract, buildRequest }: Flood): Promise<ReadonlyMap<number, number>> {
  const { callEndpoint } = await import('../testing/call.ts');
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  await pMap(
    Array.from({ length: totalRequests }, (_, number) => number),
    async (number) => {
      await delay(startedAt + (number * secondMs) / requestsPerSecond - performance.now());
      const { status, body } = await callEndpoint(contract, buildRequest(number));
      const outcome: number = body.status ?? status;
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    },
    { concurrency: maxConcurrency },
  );
  return statuses;
}

/**
 * Validates at a fixed interval until the flood ends. Returns the number of accepted ones, and the time of each one.
 */
async function validateUntilSettled(flood: Promise<unknown>, validate: () => Promise<boolean>) {
  const times: number[] = [];
  let accepted = 0;
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  flood.then(settle, settle);
  while (!isSettled) {
    const startedAt = performance.now();
    if (await validate()) accepted += 1;
    const ms = performance.now() - startedAt;
    times.push(ms);
    await delay(Math.max(0, validationIntervalMs - ms));
  }
  return { times, accepted };
}
