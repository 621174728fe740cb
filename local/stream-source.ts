import { DescribeStreamCommand, type Shard } from '@aws-sdk/client-dynamodb-streams';
import type { Closable } from './shutdown.ts';
import { sleep } from './sleep.ts';
import { readShard, type ShardReaderOptions } from './stream-shard.ts';

const discoveryIntervalMs = 2_000;

/** Reads a stream until it is closed, as Lambda's event source mapping does: each shard in order, after its parent. */
export function consumeStream(reading: Omit<ShardReaderOptions, 'signal'>): Closable {
  const ending = new AbortController();
  const { signal } = ending;
  const running = followShards({ ...reading, signal });
  return {
    close: async () => {
      ending.abort();
      await running;
    },
  };
}

async function followShards(reading: ShardReaderOptions): Promise<void> {
  const started = new Map<string, Promise<void>>();
  const finished = new Set<string>();
  while (!reading.signal.aborted) {
    const shards = await listShards(reading).catch(() => []);
    const known = new Set(shards.map(({ ShardId }) => ShardId));
    for (const { ShardId: id, ParentShardId: parent } of shards) {
      const waits = parent !== undefined && known.has(parent) && !finished.has(parent);
      if (id === undefined || started.has(id) || waits) continue;
      started.set(id, readShardToEnd(id, reading, finished));
    }
    await sleep(discoveryIntervalMs, reading.signal);
  }
  await Promise.all(started.values());
}

/** A shard that cannot be read is begun again: what it held was perhaps not handled. */
async function readShardToEnd(id: string, reading: ShardReaderOptions, finished: Set<string>): Promise<void> {
  while (!reading.signal.aborted && !finished.has(id)) {
    try {
      await readShard(id, reading);
      finished.add(id);
    } catch (error) {
      if (reading.signal.aborted) return;
      reading.log(`${error instanceof Error ? error.stack : error}\n`);
      await sleep(1_000, reading.signal);
    }
  }
}

async function listShards({ streams, streamArn }: ShardReaderOptions): Promise<Shard[]> {
  const shards: Shard[] = [];
  let from: string | undefined;
  do {
    const page = { StreamArn: streamArn, ...(from !== undefined && { ExclusiveStartShardId: from }) };
    const { StreamDescription } = await streams.send(new DescribeStreamCommand(page));
    shards.push(...(StreamDescription?.Shards ?? []));
    from = StreamDescription?.LastEvaluatedShardId;
  } while (from !== undefined);
  return shards;
}
