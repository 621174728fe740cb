import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { BucketSize } from '../shared/token-bucket.ts';

/** A source of requests, with a token bucket in the table. */
export interface BucketSource {
  readonly kind: string;
  readonly value: string;
}

/** The token buckets of all containers. */
export interface TokenBuckets {
  /**
   * Takes tokens from the bucket of a source. Returns the time of the next attempt if it has too few, else undefined.
   */
  take(
    source: BucketSource,
    request: { readonly count: number; readonly now: EpochMillis; readonly size: BucketSize },
  ): Promise<EpochMillis | undefined>;
}

export interface LimitedSource extends BucketSource {
  readonly size: BucketSize;
}

interface CountOptions<S extends LimitedSource> {
  /** Tokens that the request costs at each of its sources. */
  readonly cost: number;
  /** Called at most once for each container and block. */
  readonly logBlock: (source: S, until: EpochMillis) => void;
}

/** Limits the requests of sources, for one container. Neither method throws. */
export interface BucketLimiter<S extends LimitedSource> {
  /** Returns the time until which one of the sources is blocked in this container. Reads only its memory. */
  findBlockEnd(sources: readonly S[]): EpochMillis | undefined;
  /** Counts a request. Returns the time until which one of its sources is blocked by it. */
  count(sources: readonly S[], options: CountOptions<S>): Promise<EpochMillis | undefined>;
}

interface LimiterOptions {
  readonly buckets: TokenBuckets;
  readonly now: () => EpochMillis;
  /** Tokens of one source that a container counts in memory before it takes them from the table. */
  readonly reportSize: number;
}

/** Maximum number of sources of one kind in memory. */
const maxSources = 5_000;

/** State of one source in the memory of a container. */
interface Allowance {
  /** Tokens until the next report. */
  remaining: number;
  isReporting?: boolean;
  block?: { readonly from: EpochMillis; readonly until: EpochMillis };
}

/** Creates the limiter of one container. A failure of the table does not block any source. */
export function createBucketLimiter<S extends LimitedSource>({
  buckets,
  now,
  reportSize,
}: LimiterOptions): BucketLimiter<S> {
  const allowancesByKind = new Map<string, Allowances>();
  const getAllowances = ({ kind }: S): Allowances => {
    const allowances = allowancesByKind.get(kind) ?? createAllowances(reportSize);
    allowancesByKind.set(kind, allowances);
    return allowances;
  };
  const report = async (source: S, count: number, logBlock: CountOptions<S>['logBlock']) => {
    const from = now();
    const until = await buckets.take(source, { count, now: from, size: source.size });
    if (until === undefined) return undefined;
    getAllowances(source).findOrAdd(source.value).block = { from, until };
    logBlock(source, until);
    return until;
  };
  const countSource = async (source: S, { cost, logBlock }: CountOptions<S>): Promise<EpochMillis | undefined> => {
    const allowance = getAllowances(source).findOrAdd(source.value);
    allowance.remaining -= cost;
    if (allowance.remaining > 0 || allowance.isReporting) return undefined;
    allowance.isReporting = true;
    try {
      return await report(source, reportSize, logBlock);
    } catch (error) {
      logError({ blocked: source.kind }, ServiceError.fromUnknown(error));
      return undefined;
    } finally {
      Object.assign(allowance, { remaining: reportSize, isReporting: false });
    }
  };
  return {
    findBlockEnd: (sources) =>
      findLatest(sources.map((source) => findBlockEnd(getAllowances(source).find(source.value), now()))),
    count: async (sources, options) =>
      findLatest(await Promise.all(sources.map((source) => countSource(source, options)))),
  };
}

/** A block ends early if the clock was set back. */
const findBlockEnd = (allowance: Allowance | undefined, now: EpochMillis): EpochMillis | undefined => {
  const block = allowance?.block;
  return block && block.from <= now && now < block.until ? block.until : undefined;
};

const findLatest = (times: readonly (EpochMillis | undefined)[]): EpochMillis | undefined => {
  const defined = times.filter((time) => time !== undefined);
  return defined.length > 0 ? Math.max(...defined) : undefined;
};

/** The allowances of the sources of one kind. */
interface Allowances {
  find(value: string): Allowance | undefined;
  findOrAdd(value: string): Allowance;
}

/** Creates a map of bounded size. It drops the source that was used least recently, so a busy source stays. */
function createAllowances(reportSize: number): Allowances {
  const entries = new Map<string, Allowance>();
  const use = (value: string, allowance: Allowance): Allowance => {
    entries.delete(value);
    entries.set(value, allowance);
    return allowance;
  };
  return {
    find(value) {
      const allowance = entries.get(value);
      return allowance && use(value, allowance);
    },
    findOrAdd(value) {
      const allowance = use(value, entries.get(value) ?? { remaining: reportSize });
      const [oldest] = entries.keys();
      if (entries.size > maxSources && oldest !== undefined) entries.delete(oldest);
      return allowance;
    },
  };
}
