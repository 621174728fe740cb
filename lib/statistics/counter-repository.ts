import type { CounterGroup, Product } from '../foundation/keys.ts';
import type { StreamRecord } from '../shared/stream-record.ts';
import type { CountsIncrement } from './counter.ts';
import type { Counts } from './counts.ts';

/** The counts of a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
export interface CounterPeriod {
  readonly period: string;
  readonly counts: Counts;
  /** Incremented with every change of the counter. 0: the counter does not exist. */
  readonly version: number;
}

export interface CounterQuery extends CounterGroup {
  /** Half the read units; the latest counts can be missing for some seconds. */
  readonly isEventuallyConsistent?: boolean;
  /** Names of the sums to return. Default: all. */
  readonly names?: readonly string[] | undefined;
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

/** The counters of the days and months of all apps and their products. */
export interface CounterRepository {
  /** Returns the key of the counter's item. */
  getKey(appName: string, counter: CounterName): StreamRecord['key'];
  /** Applies the increments that lie behind the shard's checkpoint. Throws `Conflict` after ten concurrent writes. */
  increment(
    appName: string,
    counter: CounterName,
    shard: string,
    increments: readonly CountsIncrement[],
  ): Promise<void>;
  /** Lists the existing days from the first to the last, both included, earliest first. */
  listDays(appName: string, first: string, last: string, query?: CounterQuery): Promise<CounterPeriod[]>;
  /** Lists the existing months from the first to the last, both included, earliest first. */
  listMonths(appName: string, first?: string, last?: string, query?: CounterQuery): Promise<CounterPeriod[]>;
  /** Lists the products that have counters, by platform and id. */
  listProducts(appName: string): Promise<Product[]>;
  /** Replaces counts atomically and keeps the checkpoints. Returns false, without a write, if a version has changed. */
  replaceCounts(appName: string, corrections: readonly CounterCorrection[]): Promise<boolean>;
}
