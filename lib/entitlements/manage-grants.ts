import { randomUUID } from 'node:crypto';
import { ServiceError } from '../foundation/errors.ts';
import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { resolveMergedName } from '../purchases/user-alias-table.ts';
import { type Grant, type GrantingKey, isGrantActive } from './grant.ts';
import { createGrantIfAbsent, findGrant, listStoredGrants, updateGrant } from './grant-table.ts';

/** Every response about the customer reads all grants. */
const maxGrants = 500;

/** 100 years. */
const maxDurationMs = 36_525 * dayMs;

/** A request of a customer's grant, with the key that sends it. */
export interface GrantContext {
  readonly appName: string;
  readonly username: string;
  readonly key: GrantingKey;
  /** Absent for a command, which has no event. */
  readonly eventId?: string;
}

interface GrantRequest {
  readonly entitlement: string;
  readonly reason: string;
  readonly until?: EpochMillis | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Gives a customer an entitlement, also under a merged name. Returns the first grant if the customer has one with the
 * same idempotency key. Throws `InvalidPayload` for an end in the past and `Conflict` for an idempotency key of a
 * different grant, or for a customer with 500 grants.
 */
export async function addGrant(
  service: Service,
  { entitlement, reason, until, idempotencyKey }: GrantRequest,
  { appName, username: name, key, eventId }: GrantContext,
): Promise<{ readonly grant: Grant; readonly isNew: boolean }> {
  const now = service.now();
  const grantId = toGrantId(idempotencyKey);
  const findExisting = async (username: string) => await findGrant(service, appName, { username, grantId });
  // Also under a merged name: a repetition of a request before the merge gives nothing again.
  const existing = idempotencyKey === undefined ? undefined : await findExisting(name);
  if (existing) return { grant: requireSameGrant(existing, { entitlement, reason }), isNew: false };
  checkEnd(until, now);
  const username = await resolveMergedName(service, appName, name);
  if ((await listStoredGrants(service, appName, username)).length >= maxGrants)
    throw new ServiceError('Conflict', `A customer has at most ${maxGrants} grants.`, { retryable: false });
  const grant: Grant = {
    grantId,
    username,
    entitlement,
    reason,
    createdAt: now,
    createdBy: toGrantingKey(key),
    ...omitUndefined({ until, eventId }),
    version: 1,
  };
  if (await createGrantIfAbsent(service, appName, grant)) return { grant, isNew: true };
  const concurrent = await findExisting(username);
  if (!concurrent) throw new ServiceError('Conflict', 'The grant was changed by a concurrent request. Try again.');
  return { grant: requireSameGrant(concurrent, { entitlement, reason }), isNew: false };
}

/** The same idempotency key of a customer has the same id, so that two requests cannot both create a grant. */
const toGrantId = (idempotencyKey: string | undefined): string =>
  idempotencyKey === undefined
    ? `grant_${randomUUID().replaceAll('-', '').slice(0, 24)}`
    : `grant_${toShortDigest(idempotencyKey, 24)}`;

const toGrantingKey = ({ id, name }: GrantingKey): GrantingKey => ({ id, name });

function requireSameGrant(grant: Grant, request: Pick<Grant, 'entitlement' | 'reason'>): Grant {
  if (grant.entitlement === request.entitlement && grant.reason === request.reason) return grant;
  throw new ServiceError('Conflict', 'idempotencyKey was used for a different grant.', { retryable: false });
}

function checkEnd(until: EpochMillis | undefined, now: EpochMillis): void {
  if (until === undefined) return;
  if (until <= now) throw new ServiceError('InvalidPayload', 'until: expected a date in the future.');
  if (until > now + maxDurationMs)
    throw new ServiceError('InvalidPayload', 'until: expected a date within 100 years. Null is without an end.');
}

/**
 * Moves the end of a grant; undefined removes it. Throws `ResourceNotFound` for an unknown grant, `InvalidPayload` for
 * an end in the past and `Conflict` for a grant that has ended.
 */
export async function changeGrantEnd(
  service: Service,
  grantId: string,
  until: EpochMillis | undefined,
  { appName, username, key, eventId }: GrantContext,
): Promise<Grant> {
  const now = service.now();
  checkEnd(until, now);
  const changed = await updateGrant(service, appName, { username, grantId }, (grant) => {
    if (grant.until === until && grant.revokedAt === undefined) return grant;
    if (!isGrantActive(grant, now))
      throw new ServiceError('Conflict', 'The grant has ended. Create another one.', { retryable: false });
    const { until: _until, eventId: _event, ...rest } = grant;
    return { ...rest, ...omitUndefined({ until, eventId }), changedAt: now, changedBy: toGrantingKey(key) };
  });
  return requireGrant(changed, grantId);
}

/** Ends a grant now. Does not change a grant that has ended. Throws `ResourceNotFound` for an unknown grant. */
export async function endGrant(
  service: Service,
  grantId: string,
  { appName, username, key, eventId }: GrantContext,
): Promise<Grant> {
  const now = service.now();
  const revoked = await updateGrant(service, appName, { username, grantId }, (grant) => {
    if (!isGrantActive(grant, now)) return grant;
    const { eventId: _event, ...rest } = grant;
    return { ...rest, ...omitUndefined({ eventId }), revokedAt: now, revokedBy: toGrantingKey(key) };
  });
  return requireGrant(revoked, grantId);
}

function requireGrant(grant: Grant | undefined, grantId: string): Grant {
  if (!grant) throw new ServiceError('ResourceNotFound', `The customer has no grant ${grantId}.`);
  return grant;
}
