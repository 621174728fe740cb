import { describe, expect, it } from '@jest/globals';
import { assumptions } from '../../../bench/cost/assumptions.ts';
import { computeWaitMs, type RecordedCall } from '../../../bench/cost/call-recorder.ts';
import type { Invocation } from '../../../bench/cost/function-host.ts';
import { buildLogLine, countAccessLogBytes, countPlatformBytes } from '../../../bench/cost/log-lines.ts';
import { bytesPerGb, computeInvocationCost, computeOperationCost } from '../../../bench/cost/operation-costs.ts';
import { computeDollars, prices } from '../../../bench/prices.ts';
import type { MeteredCall } from '../../../bench/units/meter.ts';

const latencies = { table: 5, queue: 10, secret: 20, store: 150, webhook: 100 };
const createCall = (target: RecordedCall['target'], startedAt: number, endedAt: number): RecordedCall => ({
  target,
  startedAt,
  endedAt,
  requestBytes: 1_000,
});

describe('computeWaitMs', () => {
  it('adds calls that follow each other', () => {
    expect(computeWaitMs([createCall('table', 0, 1), createCall('store', 2, 3)], latencies)).toBe(155);
  });

  it('counts only the slowest of several calls at the same time', () => {
    expect(computeWaitMs([createCall('table', 0, 3), createCall('store', 1, 4)], latencies)).toBe(150);
  });

  it('finds the longest chain among parallel ones', () => {
    const calls = [
      createCall('table', 0, 2),
      createCall('table', 0, 9),
      createCall('table', 3, 4),
      createCall('table', 5, 6),
    ];
    expect(computeWaitMs(calls, latencies)).toBe(15);
  });

  it('returns 0 without calls', () => {
    expect(computeWaitMs([], latencies)).toBe(0);
  });
});

const settings = {
  functions: new Map([
    ['area/read', { memoryMb: 512, systemLogLevel: 'WARN', readsSecret: false } as const],
    ['workers/send-webhook', { memoryMb: 2_048, systemLogLevel: 'WARN', readsSecret: true } as const],
  ]),
  accessLogFormat: '{"id":"$context.requestId"}',
  starts: new Map(),
};
const tableCall: MeteredCall = {
  operation: 'PutItem',
  isConditionFailed: false,
  writes: [{ key: { pk: 'a', sk: 'b' }, change: {}, table: 3, index: 1 }],
  read: 2,
  reads: [],
  engine: 0,
};
const read: Invocation = {
  functionName: 'area/read',
  cpuMs: 10,
  logBytes: 0,
  responseBytes: 700,
  calls: [createCall('table', 0, 1)],
  tableCalls: [tableCall],
};
const startMs = assumptions.startShare.value * assumptions.runtimeStartMs.value;

describe('computeInvocationCost', () => {
  it('stretches CPU time by the share of a vCPU, adds the wait and rounds up to a millisecond', () => {
    const { billedMs, quantities } = computeInvocationCost(read, settings);
    // 10 ms at 512 of 1,769 MB, and one call of the table.
    expect(billedMs).toBe(Math.ceil((10 * 1769) / 512 + assumptions.tableLatencyMs.value) + startMs);
    expect(quantities.lambdaTime).toBeCloseTo((billedMs / 1000) * 0.5, 12);
  });

  it('does not accelerate code with more than one vCPU', () => {
    const webhook = { ...read, functionName: 'workers/send-webhook', calls: [] };
    expect(computeInvocationCost(webhook, settings).billedMs).toBe(10 + startMs);
  });

  it('counts the request, the response and the access log of an API function', () => {
    const { quantities } = computeInvocationCost(read, settings);
    expect(quantities).toMatchObject({ apiRequests: 1, lambdaRequests: 1, tableWrites: 4, tableReads: 2 });
    expect(quantities.egress).toBeCloseTo((700 + assumptions.responseHeaderBytes.value) / bytesPerGb, 15);
    expect(quantities.accessLogs).toBeCloseTo(countAccessLogBytes(settings.accessLogFormat) / bytesPerGb, 15);
  });

  it('counts the receive and the delete of a queue worker, and the bytes that it sends', () => {
    const calls = [createCall('webhook', 0, 1), createCall('queue', 2, 3)];
    const { quantities } = computeInvocationCost(
      { ...read, functionName: 'workers/send-webhook', responseBytes: 0, calls },
      settings,
    );
    expect(quantities).toMatchObject({ apiRequests: 0, queueRequests: 3, accessLogs: 0 });
    expect(quantities.egress).toBeGreaterThanOrEqual(1_000 / bytesPerGb);
  });

  it('throws for a function that the template lacks', () => {
    expect(() => computeInvocationCost({ ...read, functionName: 'area/other' }, settings)).toThrow('area/other');
  });
});

describe('computeOperationCost', () => {
  it('divides all invocations by the number of operations', () => {
    const operation = { name: 'read', load: 'steady', count: 2, invocations: [read, read, read] } as const;
    const cost = computeOperationCost(operation, settings);
    expect(cost.writeUnits).toBe(6);
    expect(cost.readUnits).toBe(3);
    expect(cost.requestReadUnits).toBe(3);
    expect(cost.parts.tableWrites).toBeCloseTo(computeDollars(prices.tableWrites, 6_000_000), 9);
    const sum = Object.values(cost.parts).reduce((total, dollars) => total + dollars, 0);
    expect(cost.dollarsPerMillion).toBeCloseTo(sum, 9);
  });

  it('separates permanent bytes from those with a TTL', () => {
    const inTenDays = { ttl: { N: String(Math.round(Date.now() / 1000) + 10 * 24 * 3600) } };
    const write = { key: { pk: 'a', sk: 'b' }, table: 1, index: 0 };
    const withImages = {
      ...tableCall,
      writes: [
        // 2 bytes of the name, 8 of the value and 100 of overhead.
        { ...write, change: { after: { pk: { S: 'x'.repeat(8) } } } },
        { ...write, change: { before: inTenDays, after: { ...inTenDays, pk: { S: 'x'.repeat(8) } } } },
      ],
    };
    const operation = { name: 'read', load: 'steady', count: 1, invocations: [{ ...read, tableCalls: [withImages] }] };
    const { storage } = computeOperationCost({ ...operation, load: 'steady' }, settings);
    expect(storage.permanentBytes).toBe(110);
    expect(storage.expiringByteDays).toBeCloseTo(10 * 10, 1);
  });
});

describe('countPlatformBytes', () => {
  const functionSettings = { memoryMb: 512, systemLogLevel: 'INFO', readsSecret: false } as const;

  it('counts the start and the report of an invocation', () => {
    expect(countPlatformBytes(functionSettings)).toBeGreaterThan(250);
  });

  it('returns 0 at the level WARN', () => {
    expect(countPlatformBytes({ ...functionSettings, systemLogLevel: 'WARN' })).toBe(0);
  });
});

describe('buildLogLine', () => {
  it('keeps an object as an object and joins other values', () => {
    expect(JSON.parse(buildLogLine('error', [{ code: 'A' }], 'id'))).toMatchObject({
      level: 'ERROR',
      message: { code: 'A' },
    });
    expect(JSON.parse(buildLogLine('log', ['a', 1], 'id'))).toMatchObject({ level: 'INFO', message: 'a 1' });
  });
});

describe('countAccessLogBytes', () => {
  it('replaces every variable', () => {
    expect(countAccessLogBytes('$context.status')).toBe(3);
    expect(countAccessLogBytes('$context.error.responseType')).toBe(1);
  });
});
