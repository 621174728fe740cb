import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { minRequestsPerSecond } from '../../../lib/api/limits.ts';
import {
  type AcceptedRequest,
  countAcceptedRequest,
  findRequestBlock,
  getRequestBucketSize,
  rejectedReceiptCost,
  requestCost,
  requestReportSize,
} from '../../../lib/apps/request-limiter.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { secondMs } from '../../../lib/foundation/time.ts';
import { createService } from '../../../testing/create-service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

let now: number;
let warnings: jest.SpiedFunction<typeof console.warn>;
beforeEach(() => {
  now = Date.parse('2026-01-01T00:00:00Z');
  warnings = jest.spyOn(console, 'warn').mockImplementation(() => {});
});

const createContainer = (usedTable = table): Service => createService(usedTable, { now: () => now });

const createRequest = (): AcceptedRequest & { readonly address: string } => ({
  appName: `app-${randomUUID()}`,
  keyId: randomUUID(),
  address: randomUUID(),
  requestsPerSecond: undefined,
});

const withoutAddress = ({ address: _, ...request }: AcceptedRequest): AcceptedRequest => request;

/** Counts as many tokens as the bucket of a kind has, in steps of one report, and one report more. */
async function exceed(
  container: Service,
  request: AcceptedRequest,
  kind: Parameters<typeof getRequestBucketSize>[0],
): Promise<void> {
  const { capacity } = getRequestBucketSize(kind, request.requestsPerSecond);
  for (let tokens = 0; tokens <= capacity; tokens += requestReportSize)
    await countAcceptedRequest(container, request, requestReportSize);
}

describe('countAcceptedRequest', () => {
  it('blocks an address of an app, and no other address, app or key', async () => {
    const container = createContainer();
    const request = createRequest();
    await exceed(container, request, 'request-address');
    expect(findRequestBlock(container, request)).toBeGreaterThan(now);
    expect(findRequestBlock(container, { ...request, address: randomUUID() })).toBeUndefined();
    expect(findRequestBlock(container, { ...request, appName: `app-${randomUUID()}` })).toBeUndefined();
    expect(findRequestBlock(container, withoutAddress(request))).toBeUndefined();
    expect(warnings.mock.calls).toEqual([
      [expect.objectContaining({ limited: 'address', app: request.appName, address: request.address })],
    ]);
  });

  it('blocks a public key that is used from many addresses, and not the key of the server', async () => {
    const container = createContainer();
    const request = createRequest();
    const { capacity } = getRequestBucketSize('request-key');
    for (let tokens = 0; tokens <= capacity; tokens += requestReportSize)
      await countAcceptedRequest(container, { ...request, address: randomUUID() }, requestReportSize);
    expect(findRequestBlock(container, request)).toBeGreaterThan(now);
    expect(findRequestBlock(container, { ...withoutAddress(request), keyId: randomUUID() })).toBeUndefined();
  });

  it('shares the buckets with other containers', async () => {
    const request = createRequest();
    await exceed(createContainer(), request, 'request-address');
    const container = createContainer();
    await countAcceptedRequest(container, request, requestReportSize);
    expect(findRequestBlock(container, request)).toBeGreaterThan(now);
  });

  it('accepts a burst of 1,000 validations a second of one app for a minute, from many addresses', async () => {
    const container = createContainer();
    const request = createRequest();
    for (let batch = 0; batch < 60; batch++) {
      await countAcceptedRequest(container, { ...request, address: randomUUID() }, 1_000 * requestCost);
      now += secondMs;
      expect(findRequestBlock(container, request)).toBeUndefined();
    }
  });

  it('accepts the rate of the app for an unlimited time', async () => {
    const container = createContainer();
    const request = { ...withoutAddress(createRequest()), requestsPerSecond: 1_000 };
    for (let second = 0; second < 100; second++) {
      await countAcceptedRequest(container, request, 1_000);
      now += secondMs;
      expect(findRequestBlock(container, request)).toBeUndefined();
    }
  });

  it('ends a block when the bucket has tokens again', async () => {
    const container = createContainer();
    const request = createRequest();
    await exceed(container, request, 'request-address');
    now = findRequestBlock(container, request) ?? Number.NaN;
    expect(findRequestBlock(container, request)).toBeUndefined();
  });

  it.each([
    ['request', requestCost, 0.005],
    ['rejected receipt', rejectedReceiptCost, 0.05],
  ])('writes little for each %s', async (_name, cost, maxWrites) => {
    const container = createContainer();
    const before = table.consumed.write;
    const requests = 2_000;
    const request = createRequest();
    for (let number = 0; number < requests; number++) await countAcceptedRequest(container, request, cost);
    expect((table.consumed.write - before) / requests).toBeLessThanOrEqual(maxWrites);
  });

  it('blocks no source if the table fails', async () => {
    const errors = jest.spyOn(console, 'error').mockImplementation(() => {});
    const container = createContainer({ ...table, get: async () => await Promise.reject(new Error('unavailable')) });
    const request = createRequest();
    await exceed(container, request, 'request-address');
    expect(findRequestBlock(container, request)).toBeUndefined();
    expect(errors).toHaveBeenCalled();
  });

  it('keeps buckets larger than a report for the lowest limit', () => {
    const { capacity } = getRequestBucketSize('request-address', minRequestsPerSecond);
    expect(capacity).toBeGreaterThan(requestReportSize);
  });
});
