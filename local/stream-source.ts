import type { Closable } from './shutdown.ts';
import { sleep } from './sleep.ts';
import { readShard, type ShardReaderOptions } from './stream-shard.ts';
import { createWakeup, type Wakeup } from './wakeup.ts';

/**
 * A new shard begins when its parent ends, which starts a discovery. The interval finds the shards of an engine that
 * does otherwise.
 */
const discoveryIntervalMs = 30_000;

/** Interval while the stream lacks a shard or is unavailable. */
const firstDiscoveryIntervalMs = 1_000;

/** Consumes a stream until it is closed, like a Lambda event source mapping: each shard in order, after its parent. */
export function consumeStream(options: Omit<ShardReaderOptions, 'signal'>): Closable {
  const closing = new AbortController();
  const { signal } = closing;
  const running = followShards({ ...options, signal });
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

async function followShards(options: ShardReaderOptions): Promise<void> {
  const started = new Map<string, Promise<void>>();
  const finished = new Set<string>();
  const shardEnd = createWakeup();
  while (!options.signal.aborted) {
    const { count } = shardEnd;
    const shards = await options.streams.listShards(options.streamArn).catch(() => []);
    const listedIds = new Set(shards.map(({ ShardId }) => ShardId));
    for (const { ShardId: id, ParentShardId: parent } of shards) {
      const mustWait = parent !== undefined && listedIds.has(parent) && !finished.has(parent);
      if (started.has(id) || mustWait) continue;
      started.set(id, readShardToEnd(id, options, { finished, shardEnd }));
    }
    const intervalMs = shards.length > 0 ? discoveryIntervalMs : firstDiscoveryIntervalMs;
    await shardEnd.wait(count, intervalMs, options.signal);
  }
  await Promise.all(started.values());
}

/** Reads a shard and starts again after an error, because some records may not have been handled. */
async function readShardToEnd(
  id: string,
  options: ShardReaderOptions,
  { finished, shardEnd }: { readonly finished: Set<string>; readonly shardEnd: Wakeup },
): Promise<void> {
  while (!options.signal.aborted && !finished.has(id)) {
    try {
      await readShard(id, options);
      finished.add(id);
      shardEnd.wake();
    } catch (error) {
      if (options.signal.aborted) return;
      options.log(`${error instanceof Error ? error.stack : error}\n`);
      await sleep(1_000, options.signal);
    }
  }
}
