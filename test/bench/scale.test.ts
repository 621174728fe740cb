import { describe, expect, it } from '@jest/globals';
import type { Invocation } from '../../bench/cost/function-host.ts';
import type { MeasuredOperation } from '../../bench/cost/run-operations.ts';
import { simulateShards, sumPartitionUnits, toSharedPattern } from '../../bench/scale/partition-load.ts';
import { computeLeaseRate, listPartitionLoads, listReadLoads, listStreamLoads } from '../../bench/scale.ts';
import type { MeteredWrite } from '../../bench/units/meter.ts';
import {
  customerKey,
  dayCounterKey,
  dueIndexKeys,
  duePartitions,
  purchaseIndexKeys,
  purchaseKey,
  transactionKey,
} from '../../lib/foundation/keys.ts';

const dates = { createdAt: 1, updatedAt: 1 };

/** The write of a new purchase. */
const createPurchaseWrite = (number: number): MeteredWrite => {
  const id = `store_a:${number}`;
  const key = purchaseKey('shop', id);
  const attributes = { ...key, ...purchaseIndexKeys('shop', id, dates), ...dueIndexKeys(key, 1) };
  const after = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, { S: String(value) }]));
  return { key, change: { after }, table: 2, index: 3 };
};

const createInvocation = (functionName: string, writes: readonly MeteredWrite[]): Invocation => ({
  functionName,
  cpuMs: 1,
  logBytes: 0,
  calls: [],
  responseBytes: 0,
  tableCalls: [{ operation: 'PutItem', isConditionFailed: false, writes, read: 0, reads: [], engine: 0 }],
});

describe('toSharedPattern', () => {
  it('ignores the partition of one purchase, customer or transaction', () => {
    for (const { pk } of [purchaseKey('shop', 'p'), customerKey('shop', 'ann#P'), transactionKey('shop', 'p', 't')])
      expect(toSharedPattern(pk)).toBeUndefined();
    expect(toSharedPattern('shop#T#t')).toBeUndefined();
    expect(toSharedPattern('shop#E#0d7c2c1e-5f0a-4d8b-9a2f-2f6e5f0f5c11')).toBeUndefined();
  });

  it('names lists, counters and shards without the app', () => {
    expect(toSharedPattern(dayCounterKey.partition('shop'))).toBe('a#S');
    expect(toSharedPattern('shop#PU')).toBe('a#PU');
    expect(toSharedPattern('shop#P#3', 'byCreated')).toBe('a#P#*');
    expect(['shop#Z#P', 'shop#Z#Q#store_a#0f'].map((name) => toSharedPattern(name))).toEqual(['a#Z#P', 'a#Z#Q#*']);
    expect(toSharedPattern('shop#E#7')).toBe('a#E#*');
    for (const partition of duePartitions) expect(toSharedPattern(partition)).toBe('DUE#*');
  });

  it('counts a partition of an unknown kind as shared', () => {
    expect(toSharedPattern('shop#NEW')).toBe('a#NEW');
    expect(toSharedPattern('shop#NEW#1')).toBe('a#NEW#*');
  });
});

describe('sumPartitionUnits', () => {
  it('adds the entries of all purchases in each list', () => {
    const writes = [createPurchaseWrite(1), createPurchaseWrite(2), createPurchaseWrite(3)];
    expect(Object.fromEntries(sumPartitionUnits(writes))).toEqual({
      'byCreated a#P#*': 3,
      'byKey a#PU#*': 3,
      'due DUE#*': 3,
    });
  });

  it('does not count entries of a write with a failed condition', () => {
    expect(sumPartitionUnits([{ ...createPurchaseWrite(1), index: 0 }]).size).toBe(0);
  });
});

describe('simulateShards', () => {
  it('finds the busiest shard', () => {
    expect(simulateShards(4, (number) => (number < 3 ? 'a' : 'b'))).toEqual({ shards: 2, maxShare: 0.75 });
  });

  it('distributes due purchases evenly among all shards', () => {
    const toPartition = (number: number) => dueIndexKeys(purchaseKey('shop', `store_a:${number}`), 1).duePk ?? '';
    const { shards, maxShare } = simulateShards(100_000, toPartition);
    expect(shards).toBe(duePartitions.length);
    expect(maxShare).toBeLessThan(1.05 / duePartitions.length);
  });
});

const operation: MeasuredOperation = {
  name: 'validation, new',
  load: 'steady',
  count: 2,
  invocations: [createInvocation('validation/validate-receipt', [createPurchaseWrite(1), createPurchaseWrite(2)])],
};

describe('listPartitionLoads', () => {
  it('multiplies the units of an operation with its rate, and shards with the share of the busiest one', () => {
    const shards = new Map([['DUE#*', { shards: 4, maxShare: 0.3 }]]);
    const loads = listPartitionLoads({ 'validation, new': 5_000 }, [operation], shards);
    expect(loads).toContainEqual(expect.objectContaining({ resource: 'byCreated a#P#*', used: 5_000, limit: 1_000 }));
    expect(loads).toContainEqual(expect.objectContaining({ resource: 'due DUE#*', used: 1_500 }));
  });
});

describe('listReadLoads', () => {
  it('counts the items that send-webhook reads for each batch once', () => {
    const reads = ['APP#shop', 'shop#H#0f', purchaseKey('shop', 'p').pk].map((partition) => ({
      space: 'table',
      partition,
      units: 2,
    }));
    const call = { operation: 'GetItem', isConditionFailed: false, writes: [], read: 6, reads, engine: 0 };
    const invocation = { ...createInvocation('workers/send-webhook', []), tableCalls: [call] };
    const webhook = { ...operation, name: 'webhook alone', count: 1, invocations: [invocation] };
    const batches = { messages: 10, fanOuts: 500 };
    expect(listReadLoads({ 'webhook alone': 10_000 }, [webhook], batches)).toEqual([
      { resource: 'reads of table APP#a', unit: 'read units/s', limit: 3_000, used: 2_500 },
      { resource: 'reads of table a#H#*', unit: 'read units/s', limit: 3_000, used: 2_000 },
    ]);
  });
});

describe('listStreamLoads', () => {
  it('counts one batch of each shard in each window, and the counters of each batch', () => {
    const counter: MeteredWrite = {
      key: { pk: dayCounterKey.partition('shop'), sk: 'D#2026-06-01' },
      change: {},
      table: 3,
      index: 0,
    };
    const aggregated = {
      ...operation,
      invocations: [...operation.invocations, createInvocation(aggregator, [counter])],
    };
    const streams = new Map([[aggregator, { batchSize: 1_000, batchingWindowMs: 10_000 }]]);
    // 3.5 units of the table for each of 1,000 validations, and one record each: four shards, but 1,000 records a
    // second.
    const loads = listStreamLoads({ rates: { 'validation, new': 1_000 }, storedPurchases: 0 }, [aggregated], streams);
    const [counters, updates] = [loads[0], loads.at(-1)];
    expect(updates?.used).toBeCloseTo(1, 5);
    expect(counters?.used).toBeCloseTo(3 * (updates?.used ?? 0), 5);
  });

  it('counts the shards of a large table by its size', () => {
    const streams = new Map([[aggregator, { batchSize: 1_000, batchingWindowMs: 10_000 }]]);
    const load = { rates: { 'validation, new': 1_000 }, storedPurchases: 100_000_000 };
    const updates = listStreamLoads(load, [operation], streams).at(-1);
    // 3.2 TB in partitions of 10 GB: 320 shards with a batch every 10 s. Four calls of 5 ms for each update.
    expect(updates).toMatchObject({ used: 32, limit: 50 });
  });
});

describe('computeLeaseRate', () => {
  it('divides the time of the runs by the time of a batch, at the share of a vCPU of the function', () => {
    const rateAt = (memoryMb: number) => computeLeaseRate(1, new Map([['workers/enqueue-due-items', { memoryMb }]]));
    // In 45 s of each minute: one millisecond for each of 400 items, and 55 ms of waits for 9 calls of DynamoDB and one
    // of SQS.
    expect(rateAt(1_769)).toBeCloseTo((400 / 0.455) * 0.75, 5);
    expect(rateAt(3_538)).toBeCloseTo(rateAt(1_769), 5);
    expect(rateAt(884.5)).toBeCloseTo((400 / 0.855) * 0.75, 5);
  });
});

const aggregator = 'workers/aggregate-statistics';
