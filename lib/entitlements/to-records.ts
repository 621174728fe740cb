import type { EntitlementRecord, GrantRecord } from '../api/entitlements.ts';
import { toIsoSeconds } from '../purchases/to-records.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { Entitlements } from './entitlements.ts';
import { isGrantActive } from './grant.ts';
import type { Grant } from './grant-repository.ts';

/** Returns the records of entitlements by name, as responses and webhooks contain them. */
export const toEntitlementRecords = (entitlements: Entitlements): Record<string, EntitlementRecord> =>
  Object.fromEntries(
    [...entitlements].map(([name, { since, until, ...entitlement }]) => [
      name,
      { ...entitlement, since: toNullableDate(since), until: toNullableDate(until) },
    ]),
  );

/** Returns the record of a grant at `now`. */
export function toGrantRecord(grant: Grant, now: EpochMillis): GrantRecord {
  const {
    grantId,
    entitlement,
    reason,
    createdAt,
    createdBy,
    until,
    changedAt,
    changedBy,
    revokedAt,
    revokedBy,
    movedAt,
  } = grant;
  return {
    grantId,
    entitlement,
    isActive: isGrantActive(grant, now),
    reason,
    createdAt: toIsoSeconds(createdAt),
    createdBy,
    until: toNullableDate(until),
    ...omitUndefined({ changedBy, revokedBy }),
    ...(changedAt !== undefined && { changedAt: toIsoSeconds(changedAt) }),
    ...(revokedAt !== undefined && { revokedAt: toIsoSeconds(revokedAt) }),
    ...(movedAt !== undefined && { movedAt: toIsoSeconds(movedAt) }),
  };
}

const toNullableDate = (date: EpochMillis | undefined): string | null =>
  date === undefined ? null : toIsoSeconds(date);
