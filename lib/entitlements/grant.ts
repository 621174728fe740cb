import type { EpochMillis } from '../shared/time.ts';
import type { Grant } from './grant-repository.ts';

/** Returns when the grant ends or has ended. Undefined without an end. */
export function getGrantEnd({ until, revokedAt, movedAt }: Grant): EpochMillis | undefined {
  const ends = [until, revokedAt, movedAt].filter((end) => end !== undefined);
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

export const isGrantActive = (grant: Grant, now: EpochMillis): boolean => {
  const end = getGrantEnd(grant);
  return end === undefined || end > now;
};
