import * as v from 'valibot';
import type { Product } from '../foundation/keys.ts';
import * as keys from '../foundation/keys.ts';
import type { Item, Table, Update } from '../foundation/table.ts';
import { parse } from '../shared/parse.ts';
import { Platform } from '../shared/platform.ts';
import { retryOnConflict } from '../shared/retry.ts';
import { applyIncrements, Counter, emptyCounter } from '../statistics/counter.ts';
import type { CounterPeriod, CounterQuery, CounterRepository } from '../statistics/counter-repository.ts';
import { createCheckpointRepository } from './checkpoint-repository.ts';

const CountedProduct = v.object({ platform: Platform, productId: v.string() });

export function createCounterRepository(table: Table): CounterRepository {
  const find = async (key: keys.Key): Promise<Counter> => {
    const item = await table.get(key);
    return item ? parse(Counter, item, 'DatabaseError') : emptyCounter;
  };
  const listBetween = async (
    appName: string,
    between: readonly [string, string],
    { isEventuallyConsistent = false, names, ...group }: CounterQuery,
  ): Promise<CounterPeriod[]> => {
    const partition = keys.counterPartition(appName, group);
    const paths = names && [['sk'], ['version'], ...names.map((name) => ['counts', name])];
    return (await table.query({ partition, between, isEventuallyConsistent, ...(paths && { paths }) })).map(
      toCounterPeriod,
    );
  };
  const checkpoints = createCheckpointRepository(table);
  return {
    getKey: (appName, { period, ...group }) => keys.counterKey(appName, period, group),
    async increment(appName, counter, shard, increments) {
      const { product, period } = counter;
      const key = keys.counterKey(appName, period, counter);
      await retryOnConflict(async () => {
        const before = await find(key);
        const hasSaved = before.version > 0 && !(shard in before.checkpoints);
        const saved = hasSaved ? await checkpoints.find(keys.checkpointKey(appName, shard, key)) : undefined;
        const after = applyIncrements(before, { shardKey: shard, saved }, increments);
        if (!after) return;
        // Before the counter, so that a crash cannot lose a checkpoint, or leave a counter of an unlisted product.
        await Promise.all(
          after.evicted.map(async ([evictedShard, checkpoint]) => {
            await checkpoints.save(keys.checkpointKey(appName, evictedShard, key), checkpoint);
          }),
        );
        if (product && before.version === 0) await listProduct(table, appName, product);
        await table.update(buildCounterUpdate(key, after.counter, before));
      });
    },
    listDays: async (appName, first, last, query = {}) =>
      await listBetween(appName, [keys.dayPrefix + first, keys.dayPrefix + last], query),
    listMonths: async (appName, first = '', last = '9999', query = {}) =>
      await listBetween(appName, [keys.monthPrefix + first, keys.monthPrefix + last], query),
    async listProducts(appName) {
      const partition = keys.countersPartition(appName);
      const items = await table.query({ partition, between: keys.toPrefixRange(keys.countedProductPrefix) });
      return items.map((item) => parse(CountedProduct, item, 'DatabaseError')).sort(compareProducts);
    },
    async replaceCounts(appName, corrections) {
      return await retryOnConflict(async () => {
        const counters = await Promise.all(
          corrections.map(async (correction) => {
            const key = keys.counterKey(appName, correction.period, correction);
            return { key, before: await find(key), ...correction };
          }),
        );
        if (counters.some(({ version, before }) => version !== undefined && version !== before.version)) return false;
        const writes = counters.map(({ key, before, change }) => {
          const after = { ...before, counts: change(before.counts), version: before.version + 1 };
          return { Update: { TableName: table.name, ...buildCounterUpdate(key, after, before) } };
        });
        const product = counters.find(({ before }) => before.version === 0)?.product;
        if (product) await listProduct(table, appName, product);
        await table.transact(writes);
        return true;
      });
    },
  };
}

/** Adds a product to the counted products. Idempotent. */
async function listProduct(table: Table, appName: string, { platform, productId }: Product): Promise<void> {
  const key = keys.countedProductKey(appName, { platform, productId });
  if (!(await table.get(key))) await table.batchPut([{ ...key, platform, productId }]);
}

const compareProducts = (a: Product, b: Product): number =>
  toSortedText(a) < toSortedText(b) ? -1 : toSortedText(a) > toSortedText(b) ? 1 : 0;
const toSortedText = ({ platform, productId }: Product): string => `${platform}\n${productId}`;

const buildCounterUpdate = (Key: keys.Key, counter: Counter, before: Counter): Update => ({
  Key,
  UpdateExpression: 'SET counts = :counts, checkpoints = :checkpoints, version = :version',
  ConditionExpression: 'attribute_not_exists(pk) OR version = :before',
  ExpressionAttributeValues: {
    ':counts': counter.counts,
    ':checkpoints': counter.checkpoints,
    ':version': counter.version,
    ':before': before.version,
  },
});

/** A query for names that a counter lacks returns no counts. */
const ListedCounter = v.object({
  ...v.omit(Counter, ['checkpoints']).entries,
  counts: v.optional(Counter.entries.counts, {}),
});

function toCounterPeriod(item: Item): CounterPeriod {
  const { counts, version } = parse(ListedCounter, item, 'DatabaseError');
  return { period: keys.parseCounterPeriod(String(item.sk)), counts, version };
}
