import { setTimeout as delay } from 'node:timers/promises';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { secondMs } from '../lib/shared/time.ts';
import type { BenchResult } from './bench-result.ts';
import { countExtraWrites, type Flood, listFloods } from './flood-requests.ts';
import { median } from './median.ts';
import { type MeteredService, withMeteredService } from './metered-service.ts';

const requestsPerSecond = 2_000;
const durationMs = 20 * secondMs;
const validationIntervalMs = 100;
/** Requests in progress at the same time, as with so many containers. Limits the rate on a slow machine. */
const maxConcurrency = 100;

/**
 * Measures floods of 2,000 rejected requests a second for 20 seconds, with ten validations a second at the same time. All
 * requests run in this process, so the machine limits the rate that the table shows, and the time of validations includes
 * the flood's own work.
 */
export async function benchFlood(): Promise<BenchResult> {
  return await withMeteredService(async (metered) => {
    const keys = await metered.service.createApp(['store_a']);
    const rows = [];
    for (const flood of listFloods(keys.appName)) rows.push(await measureFlood(flood, keys, metered));
    return { title: `Floods of ${requestsPerSecond} rejected requests a second for ${durationMs / secondMs} s`, rows };
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
  const [statuses, validations] = await Promise.all([
    sendFlood(flood, startedAt),
    validateUntil(startedAt + durationMs, async () => (await service.validate(keys, validate)).body.ok === true),
  ]);
  const seconds = (performance.now() - startedAt) / secondMs;
  const rejected = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const extraWrites = countExtraWrites(meter.takeCalls(), validations.times.length);
  return {
    flood: flood.name,
    rejected,
    'a second': Math.round(rejected / seconds),
    401: statuses.get(401) ?? 0,
    429: statuses.get(429) ?? 0,
    'extra writes': extraWrites,
    'per 100 rejected': Number(((100 * extraWrites) / rejected).toFixed(3)),
    'validations ok': `${validations.accepted} of ${validations.times.length}`,
    'median ms': Math.round(median(validations.times)),
  };
}

/** Sends requests at the rate of the flood, or as fast as the machine can. Returns the number of responses by status. */
async function sendFlood({ buildRequest }: Flood, startedAt: number): Promise<ReadonlyMap<number, number>> {
  const { callEndpoint } = await import('../testing/call.ts');
  const { getCustomerPurchases } = await import('../lib/api/customers.ts');
  const statuses = new Map<number, number>();
  let sent = 0;
  let running = 0;
  const send = async (number: number) => {
    const { status } = await callEndpoint(getCustomerPurchases, buildRequest(number));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    running -= 1;
  };
  for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs = performance.now() - startedAt) {
    const dueRequests = Math.trunc((elapsedMs * requestsPerSecond) / secondMs) - sent;
    const count = Math.min(dueRequests, maxConcurrency - running);
    for (let number = 0; number < count; number++) {
      running += 1;
      void send(sent++);
    }
    await delay(1);
  }
  while (running > 0) await delay(1);
  return statuses;
}

/** Validates at a fixed interval until the end. Returns the number of accepted ones, and the time of each one. */
async function validateUntil(endsAt: number, validate: () => Promise<boolean>) {
  const times: number[] = [];
  let accepted = 0;
  while (performance.now() < endsAt) {
    const startedAt = performance.now();
    if (await validate()) accepted += 1;
    const ms = performance.now() - startedAt;
    times.push(ms);
    await delay(Math.max(0, validationIntervalMs - ms));
  }
  return { times, accepted };
}
