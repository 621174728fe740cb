import type { EpochMillis } from '../shared/time.ts';
import type { Grant } from './grant-repository.ts';

/** Returns when the grant ends or has ended. Undefined without an end. */
export function getGrantEnd({ until, revokedAt }: Grant): EpochMillis | undefined {
  if (until === undefined || revokedAt === undefined) return revokedAt ?? until;
  return Math.min(until, revokedAt);
}

export const isGrantActive = (grant: Grant, now: EpochMillis): boolean => {
  const end = getGrantEnd(grant);
  return end === undefined || end > now;
};
