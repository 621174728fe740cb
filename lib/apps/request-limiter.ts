import { defaultRequestsPerSecond } from '../api/limits.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError, logWarning } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import { type EpochMillis, secondMs, toIso } from '../foundation/time.ts';
import { type BucketSize, type BucketSource, takeTokens } from './token-bucket-table.ts';

interface LimitedSource extends BucketSource {
  readonly size: BucketSize;
}

interface CountOptions<S extends LimitedSource> {
  /** Tokens that the request costs at each of its sources. */
  readonly cost: number;
  /** Called at most once for each container and block. */
  readonly logBlock: (source: S, until: EpochMillis) => void;
}

/** Limits the requests of sources in each container. Neither method throws. */
interface BucketLimiter<S extends LimitedSource> {
  /** Returns the time until which one of the sources is blocked in this container. Reads only its memory. */
  findBlockEnd(service: Service, sources: readonly S[]): EpochMillis | undefined;
  /** Counts a request. Returns the time until which one of its sources is blocked by it. */
  count(service: Service, sources: readonly S[], options: CountOptions<S>): Promise<EpochMillis | undefined>;
}

/** State of one source in the memory of a container. */
interface Allowance {
  /** Tokens until the next report. */
  remaining: number;
  isReporting?: boolean;
  block?: { readonly from: EpochMillis; readonly until: EpochMillis };
}

/** The allowances of the sources of one kind. */
interface Allowances {
  find(value: string): Allowance | undefined;
  findOrAdd(value: string): Allowance;
}

/** A request with valid credentials. */
export interface AcceptedRequest {
  readonly appName: string;
  readonly keyId: string;
  /** Limit of the app. Default: `defaultRequestsPerSecond`. */
  readonly requestsPerSecond: number | undefined;
  /** IPv4 address, or the /64 network of an IPv6 address. Absent for a key that only the app's server has. */
  readonly address?: string;
}

/** A request with rejected credentials, as far as it can be identified. */
export interface Rejection {
  /** IPv4 address, or the /64 network of an IPv6 address. */
  readonly address?: string;
  /** The requested app. It need not exist. */
  readonly appName?: string;
  /** SHA-256 of the rejected key. */
  readonly keyDigest?: string;
}

/** Maximum number of sources of one kind in memory. */
const maxSources = 5_000;

/** Time in which an empty bucket fills: a full one accepts a burst of so many seconds of its rate. */
const fillSeconds = 300;

/**
 * Rates of the buckets, relative to the rate of a key. The public key is part of the released app, so it must use up
 * neither the bucket of the app, which the app's server needs, nor one address the bucket of the key.
 */
const rateFactors = { 'request-address': 0.25, 'request-key': 1, 'request-app': 1.5 } as const;

/**
 * Tokens of one source that a container counts in memory before it takes them from the table. Each request has at most
 * three sources: a rejected receipt causes 0.03 writes, and any other request 0.003.
 */
export const requestReportSize = 1_000;
export const requestCost = 1;

/** A rejected receipt causes calls of the store, and a client with valid receipts sends few of them. */
export const rejectedReceiptCost = 10;

/** Each rejection has at most three sources, so there are at most six writes for 1,000 rejections. */
export const rejectionReportSize = 500;

/** Generous: a source is blocked for its rejected requests only, and only to make them cheap. */
export const rejectionBucketSizes = {
  address: { capacity: 1_000, msPerToken: secondMs },
  key: { capacity: 1_000, msPerToken: secondMs },
  app: { capacity: 5_000, msPerToken: secondMs / 5 },
} as const satisfies Record<string, BucketSize>;

const requestLimiter = createBucketLimiter(requestReportSize);

const rejectionLimiter = createBucketLimiter(rejectionReportSize);

/** Returns the time until which the request is blocked in this container. Reads only its memory. */
export const findRequestBlock = (service: Service, request: AcceptedRequest): EpochMillis | undefined =>
  requestLimiter.findBlockEnd(service, listRequestSources(request));

/**
 * Counts a request with valid credentials after its response is known, so that an app cannot use up the shared
 * capacity. Never throws.
 */
export async function countAcceptedRequest(service: Service, request: AcceptedRequest, cost: number): Promise<void> {
  await requestLimiter.count(service, listRequestSources(request), {
    cost,
    logBlock: (source, until) => logRequestBlock(source, request, until),
  });
}

function listRequestSources({ appName, keyId, address, requestsPerSecond }: AcceptedRequest): LimitedSource[] {
  const toSource = (kind: keyof typeof rateFactors, value: string): LimitedSource => ({
    kind,
    value,
    size: getRequestBucketSize(kind, requestsPerSecond),
  });
  return [
    ...(address === undefined ? [] : [toSource('request-address', `${appName}:${address}`)]),
    toSource('request-key', `${appName}:${keyId}`),
    toSource('request-app', appName),
  ];
}

/** Returns the size of a bucket for the limit of an app. */
export function getRequestBucketSize(
  kind: keyof typeof rateFactors,
  requestsPerSecond = defaultRequestsPerSecond,
): BucketSize {
  const rate = requestsPerSecond * rateFactors[kind];
  return { capacity: rate * fillSeconds, msPerToken: secondMs / rate };
}

/** At most one line for each container and block. */
function logRequestBlock(
  { kind }: LimitedSource,
  { appName, keyId, address }: AcceptedRequest,
  until: EpochMillis,
): void {
  const details = { limited: kind.slice('request-'.length), app: appName, keyId, address };
  logWarning(
    omitUndefined({ ...details, until: toIso(until) }),
    new ServiceError('ConnectionFailed', 'Requests of an app exceed its limit.'),
  );
}

/**
 * Counts rejected credentials, for the response to their request. Valid credentials are never counted. Returns the time
 * until which a source of the rejection is blocked. Undefined if none is blocked. Never throws.
 */
export async function countRejection(service: Service, rejection: Rejection): Promise<EpochMillis | undefined> {
  const sources = listRejectionSources(rejection);
  // A blocked rejection is not counted for its other sources, because a block must not cause writes.
  return (
    rejectionLimiter.findBlockEnd(service, sources) ??
    (await rejectionLimiter.count(service, sources, {
      cost: 1,
      logBlock: (source, until) => logRejectionBlock(source, rejection, until),
    }))
  );
}

function listRejectionSources({ address, appName, keyDigest }: Rejection): LimitedSource[] {
  return [
    ...(address === undefined ? [] : [toRejectionSource('address', address)]),
    ...(appName === undefined ? [] : [toRejectionSource('app', appName)]),
    ...(appName === undefined || keyDigest === undefined ? [] : [toRejectionSource('key', `${appName}:${keyDigest}`)]),
  ];
}

const toRejectionSource = (kind: keyof typeof rejectionBucketSizes, value: string): LimitedSource => ({
  kind,
  value,
  size: rejectionBucketSizes[kind],
});

/** At most one line for each container and block. */
function logRejectionBlock({ kind }: LimitedSource, { address, appName }: Rejection, until: EpochMillis): void {
  const details = { blocked: kind, address, app: appName, until: toIso(until) };
  logWarning(omitUndefined(details), new ServiceError('Forbidden', 'Requests with rejected credentials are blocked.'));
}

/**
 * Creates a limiter. A failure of the table does not block any source.
 * @param reportSize Tokens of one source that a container counts in memory before it takes them from the table.
 */
function createBucketLimiter<S extends LimitedSource>(reportSize: number): BucketLimiter<S> {
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
