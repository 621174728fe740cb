import { ServiceError } from '../foundation/errors.ts';
import { logWarning } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, secondMs } from '../foundation/time.ts';
import type { BucketSize } from '../foundation/token-bucket.ts';
import { createBucketLimiter, type LimitedSource } from './bucket-limiter.ts';

/** A request with rejected credentials, as far as it can be identified. */
export interface Rejection {
  /** IPv4 address, or the /64 network of an IPv6 address. */
  readonly address?: string;
  /** The requested app. It need not exist. */
  readonly appName?: string;
  /** SHA-256 of the rejected key. */
  readonly keyDigest?: string;
}

/** Each rejection has at most three sources, so there are at most six writes for 1,000 rejections. */
export const reportSize = 500;

/** Generous: a source is blocked for its rejected requests only, and only to make them cheap. */
export const bucketSizes = {
  address: { capacity: 1_000, msPerToken: secondMs },
  key: { capacity: 1_000, msPerToken: secondMs },
  app: { capacity: 5_000, msPerToken: secondMs / 5 },
} as const satisfies Record<string, BucketSize>;

const limiter = createBucketLimiter(reportSize);

/**
 * Counts rejected credentials, for the response to their request. Valid credentials are never counted. Returns the time
 * until which a source of the rejection is blocked. Undefined if none is blocked. Never throws.
 */
export async function countRejection(service: Service, rejection: Rejection): Promise<EpochMillis | undefined> {
  const sources = listSources(rejection);
  // A blocked rejection is not counted for its other sources, because a block must not cause writes.
  return (
    limiter.findBlockEnd(service, sources) ??
    (await limiter.count(service, sources, {
      cost: 1,
      logBlock: (source, until) => logBlock(source, rejection, until),
    }))
  );
}

function listSources({ address, appName, keyDigest }: Rejection): LimitedSource[] {
  return [
    ...(address === undefined ? [] : [toSource('address', address)]),
    ...(appName === undefined ? [] : [toSource('app', appName)]),
    ...(appName === undefined || keyDigest === undefined ? [] : [toSource('key', `${appName}:${keyDigest}`)]),
  ];
}

const toSource = (kind: keyof typeof bucketSizes, value: string): LimitedSource => ({
  kind,
  value,
  size: bucketSizes[kind],
});

/** At most one line for each container and block. */
function logBlock({ kind }: LimitedSource, { address, appName }: Rejection, until: EpochMillis): void {
  const details = { blocked: kind, address, app: appName, until: new Date(until).toISOString() };
  logWarning(omitUndefined(details), new ServiceError('Forbidden', 'Requests with rejected credentials are blocked.'));
}
