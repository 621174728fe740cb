import * as v from 'valibot';
import type { Key } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { Platform } from '../foundation/platform.ts';
import { retryOnConflict } from '../foundation/retry.ts';
import type { Service } from '../foundation/service.ts';
import type { StreamRecord } from '../foundation/stream-record.ts';
import type { Item, Table, Update } from '../foundation/table.ts';
import { findCheckpoint, saveCheckpoint } from './checkpoint-table.ts';
import { applyIncrements, Counter, type CountsIncrement, emptyCounter } from './counter.ts';
import {
  type CounterGroup,
  counterKey,
  counterPartition,
  type Product,
  parseCounterPeriod,
  toCheckpointKey,
  toCountedProductKey,
} from './counter-key.ts';
import type { Counts } from './counts.ts';

/** The counts of a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
export interface CounterPeriod {
  readonly period: string;
  /** Only set for a cell. */
  readonly country?: string;
  readonly counts: Counts;
  /** Incremented with every change of the counter. 0: the counter does not exist. */
  readonly version: number;
}

export interface CounterQuery extends CounterGroup {
  /** Half the read units; the latest counts can be missing for some seconds. */
  readonly isEventuallyConsistent?: boolean;
}

interface CounterName extends CounterGroup {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
}

/** A replacement of one counts. */
interface CounterCorrection extends CounterName {
  /** The version to correct. Undefined: any version. */
  readonly version?: number;
  readonly change: (counts: Counts) => Counts;
}

const CountedProduct = v.object({ platform: Platform, productId: v.string() });

/** Returns the key of the counter's item. */
export const getCounterKey = (appName: string, { period, ...group }: CounterName): StreamRecord['key'] =>
  counterKey(appName, period, group);

/** Applies the increments that lie behind the shard's checkpoint. Throws `Conflict` after ten concurrent writes. */
export async function incrementCounter(
  service: Service,
  appName: string,
  counter: CounterName,
  shard: string,
  increments: readonly CountsIncrement[],
): Promise<void> {
  const { product, period } = counter;
  const key = counterKey(appName, period, counter);
  await retryOnConflict(async () => {
    const before = await find(service, key);
    const hasSaved = before.version > 0 && !(shard in before.checkpoints);
    const saved = hasSaved ? await findCheckpoint(service, toCheckpointKey(appName, shard, key)) : undefined;
    const after = applyIncrements(before, { shardKey: shard, saved }, increments);
    if (!after) return;
    // Before the counter, so that a crash cannot lose a checkpoint, or leave a counter of an unlisted product.
    await Promise.all(
      after.evicted.map(async ([evictedShard, checkpoint]) => {
        await saveCheckpoint(service, toCheckpointKey(appName, evictedShard, key), checkpoint);
      }),
    );
    if (product && before.version === 0) await listProduct(service.table, appName, product);
    await service.table.update(buildCounterUpdate(key, after.counter, before));
  });
}

/** Lists the existing days from the first to the last, both included, earliest first. A `~` follows each country. */
export async function listCounterDays(
  service: Service,
  appName: string,
  first: string,
  last: string,
  query: CounterQuery = {},
): Promise<CounterPeriod[]> {
  return await listBetween(
    service,
    appName,
    [keys.dayCounterKey.sortKey() + first, `${keys.dayCounterKey.sortKey()}${last}~`],
    query,
  );
}

/** Lists the existing months from the first to the last, both included, earliest first. */
export async function listCounterMonths(
  service: Service,
  appName: string,
  first: string = '',
  last: string = '9999',
  query: CounterQuery = {},
): Promise<CounterPeriod[]> {
  return await listBetween(
    service,
    appName,
    [keys.monthCounterKey.sortKey() + first, `${keys.monthCounterKey.sortKey()}${last}~`],
    query,
  );
}

/** Lists the products that have counters, by platform and id. */
export async function listCountedProducts({ table }: Service, appName: string): Promise<Product[]> {
  const partition = keys.dayCounterKey.partition(appName);
  const items = await table.query({ partition, between: keys.countedProductKey.range() });
  return items.map((item) => parse(CountedProduct, item, 'DatabaseError')).sort(compareProducts);
}

/** Replaces counts atomically and keeps the checkpoints. Returns false, without a write, if a version has changed. */
export async function replaceCounts(
  service: Service,
  appName: string,
  corrections: readonly CounterCorrection[],
): Promise<boolean> {
  return await retryOnConflict(async () => {
    const counters = await Promise.all(
      corrections.map(async (correction) => {
        const key = counterKey(appName, correction.period, correction);
        return { key, before: await find(service, key), ...correction };
      }),
    );
    if (counters.some(({ version, before }) => version !== undefined && version !== before.version)) return false;
    const writes = counters.map(({ key, before, change }) => {
      const after = { ...before, counts: change(before.counts), version: before.version + 1 };
      return { Update: { TableName: service.table.name, ...buildCounterUpdate(key, after, before) } };
    });
    const product = counters.find(({ before }) => before.version === 0)?.product;
    if (product) await listProduct(service.table, appName, product);
    await service.table.transact(writes);
    return true;
  });
}

async function find({ table }: Service, key: Key): Promise<Counter> {
  const item = await table.get(key);
  return item ? parse(Counter, item, 'DatabaseError') : emptyCounter;
}

async function listBetween(
  { table }: Service,
  appName: string,
  between: readonly [string, string],
  { isEventuallyConsistent = false, ...group }: CounterQuery,
): Promise<CounterPeriod[]> {
  const partition = counterPartition(appName, group);
  return (await table.query({ partition, between, isEventuallyConsistent })).map(toCounterPeriod);
}

/** Adds a product to the counted products. Idempotent. */
async function listProduct(table: Table, appName: string, { platform, productId }: Product): Promise<void> {
  const key = toCountedProductKey(appName, { platform, productId });
  if (!(await table.get(key))) await table.batchPut([{ ...key, platform, productId }]);
}

const compareProducts = (a: Product, b: Product): number =>
  toSortedText(a) < toSortedText(b) ? -1 : toSortedText(a) > toSortedText(b) ? 1 : 0;
const toSortedText = ({ platform, productId }: Product): string => `${platform}\n${productId}`;

const buildCounterUpdate = (Key: Key, counter: Counter, before: Counter): Update => ({
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

const ListedCounter = v.omit(Counter, ['checkpoints']);

function toCounterPeriod(item: Item): CounterPeriod {
  const { counts, version } = parse(ListedCounter, item, 'DatabaseError');
  return { ...parseCounterPeriod(String(item.sk)), counts, version };
}
