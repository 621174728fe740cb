import { defaultRequestsPerSecond } from '../api/request-limits.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logWarning } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, secondMs } from '../foundation/time.ts';
import type { BucketSize } from '../foundation/token-bucket.ts';
import { createBucketLimiter, type LimitedSource } from './bucket-limiter.ts';

/** A request with valid credentials. */
export interface AcceptedRequest {
  readonly appName: string;
  readonly keyId: string;
  /** Limit of the app. Default: `defaultRequestsPerSecond`. */
  readonly requestsPerSecond: number | undefined;
  /** IPv4 address, or the /64 network of an IPv6 address. Absent for a key that only the app's server has. */
  readonly address?: string;
}

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

const limiter = createBucketLimiter(requestReportSize);

/** Returns the time until which the request is blocked in this container. Reads only its memory. */
export const findRequestBlock = (service: Service, request: AcceptedRequest): EpochMillis | undefined =>
  limiter.findBlockEnd(service, listSources(request));

/**
 * Counts a request with valid credentials after its response is known, so that an app cannot use up the shared
 * capacity. Never throws.
 */
export async function countAcceptedRequest(service: Service, request: AcceptedRequest, cost: number): Promise<void> {
  await limiter.count(service, listSources(request), {
    cost,
    logBlock: (source, until) => logBlock(source, request, until),
  });
}

function listSources({ appName, keyId, address, requestsPerSecond }: AcceptedRequest): LimitedSource[] {
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
function logBlock({ kind }: LimitedSource, { appName, keyId, address }: AcceptedRequest, until: EpochMillis): void {
  const details = { limited: kind.slice('request-'.length), app: appName, keyId, address };
  logWarning(
    omitUndefined({ ...details, until: new Date(until).toISOString() }),
    new ServiceError('ConnectionFailed', 'Requests of an app exceed its limit.'),
  );
}
