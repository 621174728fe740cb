import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { secondMs } from '../lib/shared/time.ts';
import type { BenchResult } from './bench-result.ts';
import { countExtraWrites, type Flood, listFloods } from './flood-requests.ts';
import { median } from './median.ts';
import { type MeteredService, withMeteredService } from './metered-service.ts';

const requestsPerSecond = 2_000;
const totalRequests = 20 * requestsPerSecond;
const validationIntervalMs = 100;
/** Requests in progress at the same time, as with so many containers. Limits the rate on a slow machine. */
const maxConcurrency = 100;

/**
 * Measures floods of 40,000 rejected requests at 2,000 a second, with ten validations a second at the same time. All
 * requests, the meter and the emulated stores run in this process. So a slow machine needs more than 20 s, the time of
 * validations includes the flood's own work, and the CPU time of a rejection includes the load generator's.
 */
export async function benchFlood(): Promise<BenchResult> {
  return await withMeteredService(async (metered) => {
    const keys = await metered.service.createApp(['store_a']);
    const rows = [];
    for (const flood of listFloods(keys.appName)) rows.push(await measureFlood(flood, keys, metered));
    return { title: `Floods of ${totalRequests} rejected requests, at most ${requestsPerSecond} a second`, rows };
  });
}

async function measureFlood(flood: Flood, keys: IssuedApiKeys, { service, meter }: MeteredService) {
  const { validate } = await service.callControl('/purchases', {
    platform: 'store_a',
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername: flood.name,
  });
  await service.validate(keys, validate);
  meter.takeCalls();
  const startedAt = performance.now();
  const startCpu = process.cpuUsage();
  const responses = sendFlood(flood);
  const validations = await validateUntilSettled(
    responses,
    async () => (await service.validate(keys, validate)).body.ok === true,
  );
  const statuses = await responses;
  const seconds = (performance.now() - startedAt) / secondMs;
  const cpu = process.cpuUsage(startCpu);
  const extraWrites = countExtraWrites(meter.takeCalls(), validations.times.length);
  return {
    flood: flood.name,
    'a second': Math.round(totalRequests / seconds),
    'CPU ms each': Number(((cpu.user + cpu.system) / 1_000 / totalRequests).toFixed(2)),
    401: statuses.get(401) ?? 0,
    429: statuses.get(429) ?? 0,
    'extra writes': extraWrites,
    'per 100 rejected': Number(((100 * extraWrites) / totalRequests).toFixed(3)),
    'validations ok': `${validations.accepted} of ${validations.times.length}`,
    'median ms': Math.round(median(validations.times)),
  };
}

/**
 * Sends all requests at the rate of the flood, or as fast as the machine can. Returns the number of responses by
 * status.
 */
async function sendFlood({ buildRequest }: Flood): Promise<ReadonlyMap<number, number>> {
  const { callEndpoint } = await import('../testing/call.ts');
  const { getCustomerPurchases } = await import('../lib/api/customers.ts');
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  await pMap(
    Array.from({ length: totalRequests }, (_, number) => number),
    async (number) => {
      await delay(startedAt + (number * secondMs) / requestsPerSecond - performance.now());
      const { status } = await callEndpoint(getCustomerPurchases, buildRequest(number));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
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
