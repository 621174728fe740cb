import { parse } from '../shared/parse.ts';
import { retryOnConflict } from '../shared/retry.ts';
import { applyIncrements, Counter, emptyCounter, type TallyIncrement } from '../statistics/counter.ts';
import type { Tally } from '../statistics/tally.ts';
import * as keys from './keys.ts';
import type { Item, Table, Update } from './table.ts';

/** The tally of a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
interface CounterPeriod {
  readonly period: string;
  readonly tally: Tally;
  /** Incremented with every change of the counter. 0: the counter does not exist. */
  readonly version: number;
}

/** A replacement of one tally. */
interface CounterCorrection {
  readonly period: string;
  /** The version to correct. Undefined: any version. */
  readonly version?: number;
  readonly change: (tally: Tally) => Tally;
}

/** The counters of the days and months of all apps. */
export interface CounterRepository {
  /** Applies the increments that lie behind the shard's checkpoint. Throws `Conflict` after ten concurrent writes. */
  increment(appName: string, period: string, shard: string, increments: readonly TallyIncrement[]): Promise<void>;
  /** Lists the existing days from the first to the last, both included, earliest first. */
  listDays(appName: string, first: string, last: string): Promise<CounterPeriod[]>;
  /** Lists the existing months from the first to the last, both included, earliest first. */
  listMonths(appName: string, first?: string, last?: string): Promise<CounterPeriod[]>;
  /** Replaces tallies atomically and keeps the checkpoints. Returns false, without a write, if a version has changed. */
  replaceTallies(appName: string, corrections: readonly CounterCorrection[]): Promise<boolean>;
}

export function createCounterRepository(table: Table): CounterRepository {
  const find = async (key: keys.Key): Promise<Counter> => {
    const item = await table.get(key);
    return item ? parse(Counter, item, 'DatabaseError') : emptyCounter;
  };
  const listBetween = async (appName: string, first: string, last: string): Promise<CounterPeriod[]> => {
    const items = await table.query({ partition: keys.countersPartition(appName), between: [first, last] });
    return items.map(toCounterPeriod);
  };
  return {
    async increment(appName, period, shard, increments) {
      const key = keys.counterKey(appName, period);
      await retryOnConflict(async () => {
        const before = await find(key);
        const after = applyIncrements(before, shard, increments);
        if (after) await table.update(buildCounterUpdate(key, after, before));
      });
    },
    listDays: async (appName, first, last) => await listBetween(appName, keys.dayPrefix + first, keys.dayPrefix + last),
    listMonths: async (appName, first = '', last = '9999') =>
      await listBetween(appName, keys.monthPrefix + first, keys.monthPrefix + last),
    async replaceTallies(appName, corrections) {
      return await retryOnConflict(async () => {
        const counters = await Promise.all(
          corrections.map(async (correction) => {
            const key = keys.counterKey(appName, correction.period);
            return { key, before: await find(key), ...correction };
          }),
        );
        if (counters.some(({ version, before }) => version !== undefined && version !== before.version)) return false;
        const writes = counters.map(({ key, before, change }) => {
          const after = { ...before, tally: change(before.tally), version: before.version + 1 };
          return { Update: { TableName: table.name, ...buildCounterUpdate(key, after, before) } };
        });
        await table.transact(writes);
        return true;
      });
    },
  };
}

const buildCounterUpdate = (Key: keys.Key, counter: Counter, before: Counter): Update => ({
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

function toCounterPeriod(item: Item): CounterPeriod {
  const { tally, version } = parse(Counter, item, 'DatabaseError');
  return { period: keys.parseCounterPeriod(String(item.sk)), tally, version };
}
