import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { retryOnConflict } from '../shared/retry.ts';
import { applyIncrements, Counter, emptyCounter, type TallyIncrement } from '../statistics/counter.ts';
import type { Tally } from '../statistics/tally.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

/** A tally with its day (`YYYY-MM-DD`) or month (`YYYY-MM`). */
interface CounterPeriod {
  readonly period: string;
  readonly tally: Tally;
  /** Grows whenever the counter changes; 0 is that of one which does not exist. */
  readonly version: number;
}

/** What a counter is to say instead. */
interface CounterCorrection {
  readonly key: keys.Key;
  /** The version that the correction is of; of any where there is none. */
  readonly version?: number;
  readonly change: (tally: Tally) => Tally;
}

/** The sums of an application's days and months. */
export interface CounterRepository {
  /** Adds what a counter does not have yet of a shard's records. Throws `Conflict` after ten others were faster. */
  increment(key: keys.Key, shard: string, portions: readonly TallyIncrement[]): Promise<void>;
  /** The days from the first to the last, both included, that have anything; earliest first. */
  listDays(appName: string, first: string, last: string): Promise<CounterPeriod[]>;
  listMonths(appName: string, first?: string, last?: string): Promise<CounterPeriod[]>;
  /** Replaces tallies, all or none; the marks stay. False, and nothing is done, when one no longer has its version. */
  replaceTallies(corrections: readonly CounterCorrection[]): Promise<boolean>;
}

export function createCounterRepository(table: Table): CounterRepository {
  const read = async (key: keys.Key): Promise<Counter> => {
    const item = await table.get(key);
    return item ? parse(Counter, item, 'DatabaseError') : emptyCounter;
  };
  const buildCounterUpdate = (Key: keys.Key, counter: Counter, before: Counter) => ({
    Key,
    UpdateExpression: 'SET tally = :tally, checkpoints = :checkpoints, version = :version',
    ConditionExpression: 'attribute_not_exists(pk) OR version = :before',
    ExpressionAttributeValues: {
      ':tally': counter.tally,
      ':checkpoints': counter.checkpoints,
      ':version': counter.version,
      ':before': before.version,
    },
  });
  const between = async (appName: string, from: string, to: string): Promise<CounterPeriod[]> => {
    const items = await table.query({ partition: keys.countersPartition(appName), between: [from, to] });
    return items.map(toCounterPeriod);
  };
  return {
    async increment(key, shard, portions) {
      await retryOnConflict(async () => {
        const before = await read(key);
        const after = applyIncrements(before, shard, portions);
        if (after) await table.update(buildCounterUpdate(key, after, before));
      });
    },
    listDays: async (appName, first, last) => await between(appName, keys.dayPrefix + first, keys.dayPrefix + last),
    listMonths: async (appName, first = '', last = '9999') =>
      await between(appName, keys.monthPrefix + first, keys.monthPrefix + last),
    async replaceTallies(corrections) {
      return await retryOnConflict(async () => {
        const present = await Promise.all(corrections.map(async ({ key }) => await read(key)));
        if (corrections.some(({ version }, index) => version !== undefined && version !== present[index]?.version)) {
          return false;
        }
        const writes = corrections.map(({ key, change }, index) => {
          const before = present[index] ?? emptyCounter;
          const after = { ...before, tally: change(before.tally), version: before.version + 1 };
          return { Update: { TableName: table.name, ...buildCounterUpdate(key, after, before) } };
        });
        await table.transact(writes);
        return true;
      });
    },
  };
}

function toCounterPeriod(item: Item): CounterPeriod {
  const { tally, version } = parse(Counter, item, 'DatabaseError');
  return { period: String(item.sk).slice(2), tally, version };
}
