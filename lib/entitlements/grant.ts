import * as v from 'valibot';
import { EntitlementName, OptionalNumber, OptionalText } from '../api/schemas.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type EpochMillis, toIsoSeconds, toNullableIsoSeconds } from '../foundation/time.ts';
import type { GrantRecord } from './contract.ts';

/** The API key with which a grant was made or changed. */
export const GrantingKey = v.object({ id: v.string(), name: v.string() });
export type GrantingKey = v.InferOutput<typeof GrantingKey>;

/** Stands for the key in what the command line grants and changes. */
export const commandLineKey = { id: 'command-line', name: 'command line' } as const;

/** Access that the operator gives a customer without a purchase. Times in epoch milliseconds. */
export const Grant = v.object({
  grantId: v.string(),
  username: v.string(),
  entitlement: EntitlementName,
  reason: v.string(),
  createdAt: v.number(),
  createdBy: GrantingKey,
  /** End of access. Absent: until it is revoked. */
  until: OptionalNumber,
  /** The last change of `until`. */
  changedAt: OptionalNumber,
  changedBy: v.exactOptional(GrantingKey),
  revokedAt: OptionalNumber,
  revokedBy: v.exactOptional(GrantingKey),
  /** When a merge of customers moved the grant to another customer. It gives this customer nothing from then on. */
  movedAt: OptionalNumber,
  /** The merge that moved the grant, and the id of the grant there. */
  movedBy: v.exactOptional(v.object({ mergeId: v.string(), grantId: v.string() })),
  /** When a merge moved the grant to this customer. */
  receivedAt: OptionalNumber,
  /** When the service announced that the grant has ended. */
  endAnnouncedAt: OptionalNumber,
  /** The event of the request that made the last change. */
  eventId: OptionalText,
  /** Increases with each change. */
  version: v.number(),
});
export type Grant = v.InferOutput<typeof Grant>;

/** Returns when the grant ends or has ended. Undefined without an end. */
export function getGrantEnd({ until, revokedAt, movedAt }: Grant): EpochMillis | undefined {
  const ends = [until, revokedAt, movedAt].filter((end) => end !== undefined);
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

export const isGrantActive = (grant: Grant, now: EpochMillis): boolean => {
  const end = getGrantEnd(grant);
  return end === undefined || end > now;
};

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
    until: toNullableIsoSeconds(until),
    ...omitUndefined({ changedBy, revokedBy }),
    ...(changedAt !== undefined && { changedAt: toIsoSeconds(changedAt) }),
    ...(revokedAt !== undefined && { revokedAt: toIsoSeconds(revokedAt) }),
    ...(movedAt !== undefined && { movedAt: toIsoSeconds(movedAt) }),
  };
}
