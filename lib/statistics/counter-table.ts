import * as v from 'valibot';
import type { Key } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { StreamRecord } from '../foundation/stream-record.ts';
import type { Item, Table, Update } from '../foundation/table.ts';
import { retryOnConflict } from '../foundation/updates.ts';
import { findCheckpoint, saveCheckpoint } from './checkpoint-table.ts';
import {
  applyIncrements,
  Counter,
  type CountsIncrement,
  emptyCounter,
  maxCheckpoints,
  type SavedCheckpoint,
} from './counter.ts';
import {
  type CounterGroup,
  counterKey,
  counterPartition,
  type Product,
  parseCounterPeriod,
  parsePart,
  pickPart,
  toCheckpointKey,
  toCountedProductKey,
  toPartKey,
  toPartRange,
} from './counter-key.ts';
import { addCounts, type Counts } from './counts.ts';

/** The counts of a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
export interface CounterPeriod {
  readonly period: string;
  /** Only set for a cell. */
  readonly country?: string;
  readonly counts: Counts;
  /** Incremented with every change of a part of the counter. 0: the counter does not exist. */
  readonly version: number;
}

export interface CounterQuery extends CounterGroup {
  /** Half the read units; the latest counts can be missing for some seconds. */
  readonly isEventuallyConsistent?: boolean;
}

/** First and last day or month, both included. */
type PeriodRange = readonly [first: string, last: string];

interface CounterName extends CounterGroup {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
}

/** A correction of one counter. */
interface CounterCorrection extends CounterName {
  /** The version to correct. Undefined: any version. */
  readonly version?: number;
  readonly change: (counts: Counts) => Counts;
}

const CountedProduct = v.object({ platform: Platform, productId: v.string() });

/** Returns the key of the counter's item. */
export const getCounterKey = (appName: string, { period, ...group }: CounterName): StreamRecord['key'] =>
  counterKey(appName, period, group);

/**
 * Applies the increments that lie behind the shard's checkpoint, in one of the parts of the counter
 * (`service.counterParts`). Throws `Conflict` after ten concurrent writes.
 */
export async function incrementCounter(
  service: Service,
  appName: string,
  counter: CounterName,
  { shard, increments }: { readonly shard: string; readonly increments: readonly CountsIncrement[] },
): Promise<void> {
  const { product, period } = counter;
  const key = counterKey(appName, period, counter);
  await retryOnConflict(async () => {
    const { part, counter: before, saved, unsplit } = await findPart(service, appName, { key, shard });
    const after = applyIncrements(before, { shardKey: shard, saved }, increments);
    if (!after) return;
    // Before the counter, so that a crash cannot lose a checkpoint, or leave a counter of an unlisted product.
    await Promise.all(
      after.evicted.map(async ([evictedShard, checkpoint]) => {
        await saveCheckpoint(service, toCheckpointKey(appName, evictedShard, key), { ...checkpoint, part });
      }),
    );
    if (product && before.version === 0) await listProduct(service.table, appName, product);
    if (unsplit) await service.table.update(buildSplitUpdate(key, unsplit));
    await service.table.update(buildCounterUpdate(toPartKey(key, part), after.counter, before));
  });
}

/** A part of a counter. */
interface CountingPart {
  readonly part: number;
  readonly counter: Counter;
  /** The checkpoint of the shard that is not in the part. */
  readonly saved?: SavedCheckpoint | undefined;
  /** Part 0, if this is the first other part. */
  readonly unsplit?: Counter;
}

/**
 * Finds the part that has counted the shard before. A shard keeps its part if the number of parts changes: its
 * checkpoint is in one part only, so no record is counted twice. A new shard counts in part 0 while that has few
 * shards, so that a counter that changes rarely stays one item.
 */
async function findPart(
  service: Service,
  appName: string,
  { key, shard }: { readonly key: Key; readonly shard: string },
): Promise<CountingPart> {
  const own = pickPart(shard, service.counterParts ?? 1);
  const [first, ownPart] = own === 0 ? [await find(service, key)] : await findAll(service, [key, toPartKey(key, own)]);
  const base = first ?? emptyCounter;
  if (shard in base.checkpoints || base.version === 0) return { part: 0, counter: base };
  if (ownPart && shard in ownPart.checkpoints) return { part: own, counter: ownPart };
  const saved = await findCheckpoint(service, toCheckpointKey(appName, shard, key));
  if (saved) {
    const { part = 0 } = saved;
    return { part, counter: part === 0 ? base : await find(service, toPartKey(key, part)), saved };
  }
  const counting = base.isSplit && (await listParts(service, key)).find(({ counter }) => shard in counter.checkpoints);
  if (counting) return counting;
  if (!ownPart || Object.keys(base.checkpoints).length < maxCheckpoints) return { part: 0, counter: base };
  return { part: own, counter: ownPart, ...(!base.isSplit && { unsplit: base }) };
}

/** Lists the existing days of the range, earliest first. */
export async function listCounterDays(
  service: Service,
  appName: string,
  { days, ...query }: CounterQuery & { readonly days: PeriodRange },
): Promise<CounterPeriod[]> {
  return await listBetween(service, appName, toSortKeys(keys.dayCounterKey.sortKey(), days), query);
}

/** Lists the existing months of the range, by default all, earliest first. */
export async function listCounterMonths(
  service: Service,
  appName: string,
  { months = ['', '9999'], ...query }: CounterQuery & { readonly months?: PeriodRange } = {},
): Promise<CounterPeriod[]> {
  return await listBetween(service, appName, toSortKeys(keys.monthCounterKey.sortKey(), months), query);
}

/** Lists the products that have counters, by platform and id. */
export async function listCountedProducts({ table }: Service, appName: string): Promise<Product[]> {
  const partition = keys.dayCounterKey.partition(appName);
  const items = await table.query({ partition, between: keys.countedProductKey.range() });
  return items.map((item) => parse(CountedProduct, item, 'DatabaseError')).sort(compareProducts);
}

/**
 * Replaces counts atomically with the counts of part 0, and keeps the checkpoints. Returns false, without a write, if a
 * version has changed.
 */
export async function replaceCounts(
  service: Service,
  appName: string,
  corrections: readonly CounterCorrection[],
): Promise<boolean> {
  return await retryOnConflict(async () => {
    const counters = await Promise.all(
      corrections.map(async (correction) => {
        const key = counterKey(appName, correction.period, correction);
        const parts = await listParts(service, key);
        return { key, parts, before: sumParts(parts.map(({ counter }) => counter)), ...correction };
      }),
    );
    if (counters.some(({ version, before }) => version !== undefined && version !== before.version)) return false;
    const writes = counters.flatMap(({ key, parts, before, change }) =>
      parts.map(({ part, counter }) => {
        const after = { ...counter, counts: part === 0 ? change(before.counts) : {}, version: counter.version + 1 };
        return {
          Update: { TableName: service.table.name, ...buildCounterUpdate(toPartKey(key, part), after, counter) },
        };
      }),
    );
    const product = counters.find(({ before }) => before.version === 0)?.product;
    if (product) await listProduct(service.table, appName, product);
    await service.table.transact(writes);
    return true;
  });
}

async function find({ table }: Service, key: Key): Promise<Counter> {
  const item = await table.get(key);
  return item ? parseCounter(item) : emptyCounter;
}

const parseCounter = (item: Item): Counter => parse(Counter, item, 'DatabaseError');

/** Returns the counters of the keys, in their order. */
async function findAll({ table }: Service, counterKeys: readonly Key[]): Promise<Counter[]> {
  const items = new Map((await table.batchGet(counterKeys)).map((item) => [item.sk, parseCounter(item)]));
  return counterKeys.map(({ sk }) => items.get(sk) ?? emptyCounter);
}

/** Lists the parts of a counter. Part 0 is the first and need not exist. */
async function listParts({ table }: Service, key: Key): Promise<CountingPart[]> {
  const items = await table.query({ partition: key.pk, between: toPartRange(key) });
  const parts = items.map((item) => ({ part: parsePart(String(item.sk)), counter: parseCounter(item) }));
  return parts[0]?.part === 0 ? parts : [{ part: 0, counter: emptyCounter }, ...parts];
}

const sumParts = <Part extends Pick<Counter, 'counts' | 'version'>>(parts: readonly Part[]) =>
  parts.reduce(
    (sum, { counts, version }) => ({ counts: addCounts(sum.counts, counts), version: sum.version + version }),
    { counts: {} as Counts, version: 0 },
  );

/** A `~` follows each country. */
const toSortKeys = (prefix: string, [first, last]: PeriodRange): PeriodRange => [prefix + first, `${prefix}${last}~`];

async function listBetween(
  { table }: Service,
  appName: string,
  between: readonly [string, string],
  { isEventuallyConsistent = false, ...group }: CounterQuery,
): Promise<CounterPeriod[]> {
  const partition = counterPartition(appName, group);
  const counters: CounterPeriod[] = [];
  for (const item of await table.query({ partition, between, isEventuallyConsistent })) {
    const part = toCounterPeriod(item);
    const last = counters.at(-1);
    if (last?.period !== part.period || last.country !== part.country) counters.push(part);
    // The parts of a counter follow each other.
    else counters[counters.length - 1] = { ...last, ...sumParts([last, part]) };
  }
  return counters;
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

/** Marks a counter that has other parts than part 0. */
const buildSplitUpdate = (Key: Key, { version }: Counter): Update => ({
  Key,
  UpdateExpression: 'SET isSplit = :true, version = :version',
  ConditionExpression: 'version = :before',
  ExpressionAttributeValues: { ':true': true, ':version': version + 1, ':before': version },
});

const ListedCounter = v.omit(Counter, ['checkpoints']);

function toCounterPeriod(item: Item): CounterPeriod {
  const { counts, version } = parse(ListedCounter, item, 'DatabaseError');
  return { ...parseCounterPeriod(String(item.sk)), counts, version };
}
