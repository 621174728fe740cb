import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { BucketSize } from '../foundation/token-bucket.ts';
import { type BucketSource, takeTokens } from './token-bucket-table.ts';

export interface LimitedSource extends BucketSource {
  readonly size: BucketSize;
}

interface CountOptions<S extends LimitedSource> {
  /** Tokens that the request costs at each of its sources. */
  readonly cost: number;
  /** Called at most once for each container and block. */
  readonly logBlock: (source: S, until: EpochMillis) => void;
}

/** Limits the requests of sources in each container. Neither method throws. */
export interface BucketLimiter<S extends LimitedSource> {
  /** Returns the time until which one of the sources is blocked in this container. Reads only its memory. */
  findBlockEnd(service: Service, sources: readonly S[]): EpochMillis | undefined;
  /** Counts a request. Returns the time until which one of its sources is blocked by it. */
  count(service: Service, sources: readonly S[], options: CountOptions<S>): Promise<EpochMillis | undefined>;
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

/**
 * Creates a limiter. A failure of the table does not block any source.
 * @param reportSize Tokens of one source that a container counts in memory before it takes them from the table.
 */
export function createBucketLimiter<S extends LimitedSource>(reportSize: number): BucketLimiter<S> {
  const allowancesByKind = perContainer(() => new Map<string, Allowances>());
  const getAllowances = (service: Service, { kind }: S): Allowances => {
    const byKind = allowancesByKind(service);
    const allowances = byKind.get(kind) ?? createAllowances(reportSize);
    byKind.set(kind, allowances);
    return allowances;
  };
  const report = async (service: Service, source: S, logBlock: CountOptions<S>['logBlock']) => {
    const from = service.now();
    const until = await takeTokens(service, source, { count: reportSize, now: from, size: source.size });
    if (until === undefined) return undefined;
    getAllowances(service, source).findOrAdd(source.value).block = { from, until };
    logBlock(source, until);
    return until;
  };
  const countSource = async (service: Service, source: S, { cost, logBlock }: CountOptions<S>) => {
    const allowance = getAllowances(service, source).findOrAdd(source.value);
    allowance.remaining -= cost;
    if (allowance.remaining > 0 || allowance.isReporting) return undefined;
    allowance.isReporting = true;
    try {
      return await report(service, source, logBlock);
    } catch (error) {
      logError({ blocked: source.kind }, ServiceError.fromUnknown(error));
      return undefined;
    } finally {
      Object.assign(allowance, { remaining: reportSize, isReporting: false });
    }
  };
  return {
    findBlockEnd: (service, sources) =>
      findLatest(
        sources.map((source) => findBlockEnd(getAllowances(service, source).find(source.value), service.now())),
      ),
    count: async (service, sources, options) =>
      findLatest(await Promise.all(sources.map((source) => countSource(service, source, options)))),
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
