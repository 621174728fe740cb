import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  countRejection,
  type Rejection,
  rejectionBucketSizes,
  rejectionReportSize,
} from '../../../lib/apps/request-limiter.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { secondMs } from '../../../lib/foundation/time.ts';
import { createService } from '../../../testing/create-service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

let now: number;
beforeEach(() => {
  now = Date.parse('2026-01-01T00:00:00Z');
  jest.spyOn(console, 'warn').mockImplementation(() => {});
  jest.spyOn(console, 'error').mockImplementation(() => {});
});

/** Wraps the table, whose calls for the buckets it counts. */
function countBucketCalls() {
  const calls = { all: 0, granted: 0 };
  const counted: Table = {
    ...table,
    get: async (key) => {
      calls.all += 1;
      return await table.get(key);
    },
    update: async (update) => {
      await table.update(update);
      calls.granted += 1;
    },
  };
  return { counted, calls };
}

const createContainer = (usedTable = table): Service => createService(usedTable, { now: () => now });

/** Counts rejections in turn until a rejection is blocked. Returns the number before it. Throws after `maximum`. */
async function countUntilBlocked(
  containers: readonly Service[],
  describeRejection: (number: number) => Rejection,
  maximum = 50_000,
): Promise<number> {
  for (let number = 0; number < maximum; number++) {
    const container = containers[number % containers.length] as Service;
    if ((await countRejection(container, describeRejection(number))) !== undefined) return number;
  }
  throw new Error(`Not blocked after ${maximum} rejections.`);
}

const createRejection = (): Required<Rejection> => ({
  address: randomUUID(),
  appName: `app-${randomUUID()}`,
  keyDigest: randomUUID(),
});

describe('countRejection', () => {
  it('blocks an address after its bucket is empty', async () => {
    const { address } = createRejection();
    const container = createContainer();
    const passed = await countUntilBlocked([container], () => ({ address }));
    expect(passed).toBe(rejectionBucketSizes.address.capacity + rejectionReportSize - 1);
    expect(await countRejection(container, { address: randomUUID() })).toBeUndefined();
  });

  it('blocks a key that is rejected from many addresses, and no other key of the app', async () => {
    const { appName, keyDigest } = createRejection();
    const container = createContainer();
    await countUntilBlocked([container], () => ({ address: randomUUID(), appName, keyDigest }));
    expect(await countRejection(container, { ...createRejection(), appName })).toBeUndefined();
    expect(await countRejection(container, { ...createRejection(), keyDigest })).toBeUndefined();
  });

  it('blocks the rejections of an app whose keys are guessed from many addresses', async () => {
    const { appName } = createRejection();
    const container = createContainer();
    const passed = await countUntilBlocked([container], () => ({ ...createRejection(), appName }));
    expect(passed).toBe(rejectionBucketSizes.app.capacity + rejectionReportSize - 1);
  });

  it('shares the bucket between containers', async () => {
    const { address } = createRejection();
    const containers = Array.from({ length: 5 }, () => createContainer());
    const passed = await countUntilBlocked(containers, () => ({ address }));
    expect(passed).toBeLessThanOrEqual(rejectionBucketSizes.address.capacity + containers.length * rejectionReportSize);
    const laterContainer = createContainer();
    for (let number = 1; number < rejectionReportSize; number++)
      expect(await countRejection(laterContainer, { address })).toBeUndefined();
    expect(await countRejection(laterContainer, { address })).toBeGreaterThan(now);
  });

  it('takes tokens at most once for 100 rejections from any sources', async () => {
    const { counted, calls } = countBucketCalls();
    const container = createContainer(counted);
    const app = createRejection();
    const shapes: readonly (() => Rejection)[] = [
      () => app,
      () => ({ ...createRejection(), appName: app.appName }),
      () => ({ ...app, keyDigest: randomUUID() }),
      () => createRejection(),
      () => ({ address: app.address }),
    ];
    const rejections = 10_000;
    for (let number = 0; number < rejections; number++) {
      now += 3;
      await countRejection(container, shapes[number % shapes.length]?.() ?? {});
    }
    expect(calls.granted).toBeGreaterThan(0);
    expect(calls.all).toBeLessThan(rejections / 100);
  });

  it('neither reads nor writes the table for a blocked source until its block ends', async () => {
    const { address } = createRejection();
    const { counted, calls } = countBucketCalls();
    const container = createContainer(counted);
    await countUntilBlocked([container], () => ({ address }));
    const blockedUntil = Number(await countRejection(container, { address }));
    const before = calls.all;
    for (let number = 0; number < 2 * rejectionReportSize; number++)
      expect(await countRejection(container, { ...createRejection(), address })).toBe(blockedUntil);
    expect(calls.all).toBe(before);
    now = blockedUntil;
    expect(await countRejection(container, { address })).toBeUndefined();
  });

  it('blocks for at most the time in which the bucket gains the tokens of a report', async () => {
    const { address } = createRejection();
    const container = createContainer();
    await countUntilBlocked([container], () => ({ address }));
    const blockedUntil = Number(await countRejection(container, { address }));
    expect(blockedUntil - now).toBeGreaterThan(0);
    expect(blockedUntil - now).toBeLessThanOrEqual(rejectionReportSize * secondMs);
  });

  it('reports the rejections of a source once if many are counted concurrently', async () => {
    const { address } = createRejection();
    const { counted, calls } = countBucketCalls();
    const container = createContainer(counted);
    await Promise.all(
      Array.from({ length: 3 * rejectionReportSize }, async () => await countRejection(container, { address })),
    );
    expect(calls.all).toBe(1);
  });

  it('ends a block if the clock is set back', async () => {
    const { address } = createRejection();
    const container = createContainer();
    await countUntilBlocked([container], () => ({ address }));
    now -= 1;
    expect(await countRejection(container, { address })).toBeUndefined();
  });

  it('does not block a source that is rejected less often than its bucket gains tokens', async () => {
    const { address } = createRejection();
    const container = createContainer();
    for (let number = 0; number < 5_000; number++) {
      now += rejectionBucketSizes.address.msPerToken;
      expect(await countRejection(container, { address })).toBeUndefined();
    }
  });

  it('keeps counting a busy source while many other sources are counted', async () => {
    const { address } = createRejection();
    const container = createContainer();
    const passed = await countUntilBlocked([container], (number) =>
      number % 10 === 0 ? { address } : { address: randomUUID() },
    );
    expect(passed).toBe((rejectionBucketSizes.address.capacity + rejectionReportSize - 1) * 10);
  });

  it('blocks nothing if the table fails, and logs the failure', async () => {
    const failure = new ServiceError('DatabaseError', 'The database is unavailable. Try again later.');
    const container = createContainer({ ...table, get: async () => await Promise.reject(failure) });
    for (let number = 0; number < 5 * rejectionReportSize; number++)
      expect(await countRejection(container, { address: '192.0.2.1' })).toBeUndefined();
    expect(console.error).toHaveBeenCalledTimes(5);
    expect(console.error).toHaveBeenCalledWith(expect.objectContaining({ code: 'DatabaseError' }));
  });
});
