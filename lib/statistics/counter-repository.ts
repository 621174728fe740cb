import type { TallyIncrement } from './counter.ts';
import type { Tally } from './tally.ts';
import type { Product } from './tally-product.ts';

/** The tally of a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
export interface CounterPeriod {
  readonly period: string;
  readonly tally: Tally;
  /** Incremented with every change of the counter. 0: the counter does not exist. */
  readonly version: number;
}

/** A counter of an app or a product. */
interface CounterName {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly product?: Product | undefined;
}

/** A replacement of one tally. */
interface CounterCorrection extends CounterName {
  /** The version to correct. Undefined: any version. */
  readonly version?: number;
  readonly change: (tally: Tally) => Tally;
}

/** The counters of the days and months of all apps and their products. */
export interface CounterRepository {
  /** Applies the increments that lie behind the shard's checkpoint. Throws `Conflict` after ten concurrent writes. */
  increment(appName: string, counter: CounterName, shard: string, increments: readonly TallyIncrement[]): Promise<void>;
  /** Lists the existing days from the first to the last, both included, earliest first. */
  listDays(appName: string, first: string, last: string, product?: Product): Promise<CounterPeriod[]>;
  /** Lists the existing months from the first to the last, both included, earliest first. */
  listMonths(appName: string, first?: string, last?: string, product?: Product): Promise<CounterPeriod[]>;
  /** Lists the products that have counters, by platform and id. */
  listProducts(appName: string): Promise<Product[]>;
  /** Replaces tallies atomically and keeps the checkpoints. Returns false, without a write, if a version has changed. */
  replaceTallies(appName: string, corrections: readonly CounterCorrection[]): Promise<boolean>;
}
