import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenBuckets } from '../../../lib/apps/bucket-limiter.ts';
import {
  type AcceptedRequest,
  createRequestLimiter,
  getRequestBucketSize,
  rejectedReceiptCost,
  requestCost,
  requestReportSize,
} from '../../../lib/apps/request-limiter.ts';
import { minRequestsPerSecond } from '../../../lib/apps/request-limits.ts';
import { createTokenBucketRepository } from '../../../lib/db/token-bucket-repository.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { secondMs } from '../../../lib/shared/time.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

let now: number;
let warnings: jest.SpiedFunction<typeof console.warn>;
beforeEach(() => {
  now = Date.parse('2026-01-01T00:00:00Z');
  warnings = jest.spyOn(console, 'warn').mockImplementation(() => {});
});

const createContainer = (buckets: TokenBuckets = createTokenBucketRepository(table)) =>
  createRequestLimiter(buckets, () => now);

const createRequest = (): AcceptedRequest & { readonly address: string } => ({
  appName: `app-${randomUUID()}`,
  keyId: randomUUID(),
  address: randomUUID(),
  requestsPerSecond: undefined,
});

const withoutAddress = ({ address: _, ...request }: AcceptedRequest): AcceptedRequest => request;

/** Counts as many tokens as the bucket of a kind has, in steps of one report, and one report more. */
async function exceed(
  limiter: ReturnType<typeof createContainer>,
  request: AcceptedRequest,
  kind: Parameters<typeof getRequestBucketSize>[0],
): Promise<void> {
  const { capacity } = getRequestBucketSize(kind, request.requestsPerSecond);
  for (let tokens = 0; tokens <= capacity; tokens += requestReportSize) await limiter.count(request, requestReportSize);
}

describe('createRequestLimiter', () => {
  it('blocks an address of an app, and no other address, app or key', async () => {
    const limiter = createContainer();
    const request = createRequest();
    await exceed(limiter, request, 'request-address');
    expect(limiter.findBlockEnd(request)).toBeGreaterThan(now);
    expect(limiter.findBlockEnd({ ...request, address: randomUUID() })).toBeUndefined();
    expect(limiter.findBlockEnd({ ...request, appName: `app-${randomUUID()}` })).toBeUndefined();
    expect(limiter.findBlockEnd(withoutAddress(request))).toBeUndefined();
    expect(warnings.mock.calls).toEqual([
      [expect.objectContaining({ limited: 'address', app: request.appName, address: request.address })],
    ]);
  });

  it('blocks a public key that is used from many addresses, and not the key of the server', async () => {
    const limiter = createContainer();
    const request = createRequest();
    const { capacity } = getRequestBucketSize('request-key');
    for (let tokens = 0; tokens <= capacity; tokens += requestReportSize)
      await limiter.count({ ...request, address: randomUUID() }, requestReportSize);
    expect(limiter.findBlockEnd(request)).toBeGreaterThan(now);
    expect(limiter.findBlockEnd({ ...withoutAddress(request), keyId: randomUUID() })).toBeUndefined();
  });

  it('shares the buckets with other containers', async () => {
    const request = createRequest();
    await exceed(createContainer(), request, 'request-address');
    const container = createContainer();
    await container.count(request, requestReportSize);
    expect(container.findBlockEnd(request)).toBeGreaterThan(now);
  });

  it('accepts a burst of 1,000 validations a second of one app for a minute, from many addresses', async () => {
    const limiter = createContainer();
    const request = createRequest();
    for (let batch = 0; batch < 60; batch++) {
      await limiter.count({ ...request, address: randomUUID() }, 1_000 * requestCost);
      now += secondMs;
      expect(limiter.findBlockEnd(request)).toBeUndefined();
    }
  });

  it('accepts the rate of the app for an unlimited time', async () => {
    const limiter = createContainer();
    const request = { ...withoutAddress(createRequest()), requestsPerSecond: 1_000 };
    for (let second = 0; second < 100; second++) {
      await limiter.count(request, 1_000);
      now += secondMs;
      expect(limiter.findBlockEnd(request)).toBeUndefined();
    }
  });

  it('ends a block when the bucket has tokens again', async () => {
    const limiter = createContainer();
    const request = createRequest();
    await exceed(limiter, request, 'request-address');
    now = limiter.findBlockEnd(request) ?? Number.NaN;
    expect(limiter.findBlockEnd(request)).toBeUndefined();
  });

  it.each([
    ['request', requestCost, 0.005],
    ['rejected receipt', rejectedReceiptCost, 0.05],
  ])('writes little for each %s', async (_name, cost, maxWrites) => {
    const limiter = createContainer();
    const before = table.consumed.write;
    const requests = 2_000;
    const request = createRequest();
    for (let number = 0; number < requests; number++) await limiter.count(request, cost);
    expect((table.consumed.write - before) / requests).toBeLessThanOrEqual(maxWrites);
  });

  it('blocks no source if the table fails', async () => {
    const errors = jest.spyOn(console, 'error').mockImplementation(() => {});
    const limiter = createContainer({ take: async () => await Promise.reject(new Error('unavailable')) });
    const request = createRequest();
    await exceed(limiter, request, 'request-address');
    expect(limiter.findBlockEnd(request)).toBeUndefined();
    expect(errors).toHaveBeenCalled();
  });

  it('keeps buckets larger than a report for the lowest limit', () => {
    const { capacity } = getRequestBucketSize('request-address', minRequestsPerSecond);
    expect(capacity).toBeGreaterThan(requestReportSize);
  });
});
