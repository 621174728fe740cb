import { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from '@jest/globals';
import { createSharedClock } from '../../local/shared-clock.ts';
import { readShard, type ShardReaderOptions } from '../../local/stream-shard.ts';
import type { Wakeup } from '../../local/wakeup.ts';

const record = { eventName: 'INSERT' as const, dynamodb: { SequenceNumber: '1', Keys: { pk: { S: 'a' } } } };

/**
 * Reads a shard whose polls return the given numbers of records. Returns how long the reader waits after each empty
 * poll.
 */
async function readPolls(
  polls: readonly number[],
  { batchingWindowMs, batchSize = 10 }: { readonly batchingWindowMs?: number; readonly batchSize?: number } = {},
) {
  const counts = [...polls];
  const streams = {
    listShards: async () => [],
    getFirstIterator: async () => 'first',
    getRecords: async () => {
      const Records = Array(counts.shift()).fill(record);
      return { Records, ...(counts.length > 0 && { NextShardIterator: 'next' }) };
    },
  };
  const waits: number[] = [];
  const changes: Wakeup = { count: 0, wake: () => {}, wait: async (_count, ms) => void waits.push(ms) };
  let delivered = 0;
  const intervals: number[] = [];
  const options: ShardReaderOptions = {
    ...(batchingWindowMs !== undefined && { batchingWindowMs }),
    ...{ streams, streamArn: 'arn', name: 'reader', batchSize, bisectOnError: false, maxRetries: 0 },
    matches: () => true,
    handler: {
      invoke: async (payload) => {
        delivered += JSON.parse(payload).Records.length;
        return { result: 'null' };
      },
    },
    client: new SQSClient({ region: 'eu-west-1' }),
    clock: createSharedClock(),
    changes,
    signal: new AbortController().signal,
    log: () => {},
  };
  await readShard('shard', options, async (ms) => void intervals.push(ms));
  return { waits, delivered, intervals: intervals.filter((ms) => ms > 0) };
}

describe('readShard', () => {
  it('waits for a write after a poll without records, and polls again after half a minute', async () => {
    const { waits } = await readPolls(Array(4).fill(0));
    expect(waits).toEqual([30_000, 30_000, 30_000]);
  });

  it('does not wait after a poll with records and delivers the last ones of a closed shard', async () => {
    const { waits, delivered } = await readPolls([0, 0, 2, 3, 0, 1]);
    expect(waits).toEqual([30_000, 30_000, 30_000]);
    expect(delivered).toBe(6);
  });

  it('collects records for at most half a second after each batch of a function with a batching window', async () => {
    expect((await readPolls([2, 0, 3, 0], { batchingWindowMs: 10_000 })).intervals).toEqual([500, 500]);
    expect((await readPolls([2, 0, 3, 0], { batchingWindowMs: 100 })).intervals).toEqual([100, 100]);
    expect((await readPolls([2, 0, 3, 0])).intervals).toEqual([]);
  });

  it('collects records for at most two seconds after 25 or more', async () => {
    const busy = { batchingWindowMs: 10_000, batchSize: 100 };
    expect((await readPolls([24, 0, 25, 0], busy)).intervals).toEqual([500, 2_000]);
    expect((await readPolls([25, 0], { ...busy, batchingWindowMs: 100 })).intervals).toEqual([100]);
  });

  it('does not wait after as many records as a batch can have', async () => {
    const { intervals, delivered } = await readPolls([100, 100, 99, 0], { batchingWindowMs: 10_000, batchSize: 100 });
    expect(intervals).toEqual([2_000]);
    expect(delivered).toBe(299);
  });
});
