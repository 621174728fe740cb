import { ServiceError } from '../shared/errors.ts';
import { logError, logWarning } from '../shared/log.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import { type EpochMillis, secondMs } from '../shared/time.ts';
import type { BucketSize } from '../shared/token-bucket.ts';

/** A request with rejected credentials, as far as it can be identified. */
export interface Rejection {
  /** IPv4 address, or the /64 network of an IPv6 address. */
  readonly address?: string;
  /** The requested app. It need not exist. */
  readonly appName?: string;
  /** SHA-256 of the rejected key. */
  readonly keyDigest?: string;
}

/** A source of rejections with a token bucket in the table. */
export interface RejectionSource {
  readonly kind: 'address' | 'key' | 'app';
  readonly value: string;
}

/** The token buckets of all containers. */
export interface RejectionBuckets {
  /**
   * Takes tokens from the bucket of a source. Returns the time of the next attempt if it has too few, else undefined.
   */
  take(
    source: RejectionSource,
    request: { readonly count: number; readonly now: EpochMillis; readonly size: BucketSize },
  ): Promise<EpochMillis | undefined>;
}

/** Counts rejected credentials, for the response to their request. Valid credentials are never counted. */
export interface RejectionLimiter {
  /** Returns the time until which a source of the rejection is blocked. Undefined if none is blocked. Never throws. */
  count(rejection: Rejection): Promise<EpochMillis | undefined>;
}

/**
 * Rejections of one source that a container counts in memory before it takes their tokens from the table. Each
 * rejection has at most three sources, so there are at most six writes for 1,000 rejections.
 */
export const reportSize = 500;

/** Generous: a source is blocked for its rejected requests only, and only to make them cheap. */
export const bucketSizes: Readonly<Record<RejectionSource['kind'], BucketSize>> = {
  address: { capacity: 1_000, msPerToken: secondMs },
  key: { capacity: 1_000, msPerToken: secondMs },
  app: { capacity: 5_000, msPerToken: secondMs / 5 },
};

/** Maximum number of sources of one kind in memory. */
const maxSources = 5_000;

/** State of one source in the memory of a container. */
interface Allowance {
  /** Rejections until the next report. */
  remaining: number;
  isReporting?: boolean;
  block?: { readonly from: EpochMillis; readonly until: EpochMillis };
}

/** Creates the limiter of one container. A failure of the table does not block any source. */
export function createRejectionLimiter(buckets: RejectionBuckets, now: () => EpochMillis): RejectionLimiter {
  const allowances = {
    address: createAllowances(),
    key: createAllowances(),
    app: createAllowances(),
  };
  const report = async (source: RejectionSource, rejection: Rejection): Promise<EpochMillis | undefined> => {
    const from = now();
    const until = await buckets.take(source, { count: reportSize, now: from, size: bucketSizes[source.kind] });
    if (until === undefined) return undefined;
    allowances[source.kind].findOrAdd(source.value).block = { from, until };
    logBlock(source, rejection, until);
    return until;
  };
  const countSource = async (source: RejectionSource, rejection: Rejection): Promise<EpochMillis | undefined> => {
    const allowance = allowances[source.kind].findOrAdd(source.value);
    allowance.remaining -= 1;
    if (allowance.remaining > 0 || allowance.isReporting) return undefined;
    allowance.isReporting = true;
    try {
      return await report(source, rejection);
    } catch (error) {
      logError({ blocked: source.kind }, ServiceError.fromUnknown(error));
      return undefined;
    } finally {
      Object.assign(allowance, { remaining: reportSize, isReporting: false });
    }
  };
  return {
    async count(rejection) {
      const sources = listSources(rejection);
      const blockedUntil = findLatest(
        sources.map(({ kind, value }) => findBlockEnd(allowances[kind].find(value), now())),
      );
      // A blocked rejection is not counted for its other sources, because a block must not cause writes.
      if (blockedUntil !== undefined) return blockedUntil;
      return findLatest(await Promise.all(sources.map((source) => countSource(source, rejection))));
    },
  };
}

function listSources({ address, appName, keyDigest }: Rejection): RejectionSource[] {
  return [
    ...(address === undefined ? [] : [{ kind: 'address', value: address } as const]),
    ...(appName === undefined ? [] : [{ kind: 'app', value: appName } as const]),
    ...(appName === undefined || keyDigest === undefined
      ? []
      : [{ kind: 'key', value: `${appName}:${keyDigest}` } as const]),
  ];
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
function createAllowances(): Allowances {
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

/** At most one line for each container and block. */
function logBlock({ kind }: RejectionSource, { address, appName }: Rejection, until: EpochMillis): void {
  const details = { blocked: kind, address, app: appName, until: new Date(until).toISOString() };
  logWarning(omitUndefined(details), new ServiceError('Forbidden', 'Requests with rejected credentials are blocked.'));
}
