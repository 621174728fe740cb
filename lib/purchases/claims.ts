import * as v from 'valibot';
import type { EpochMillis } from '../shared/time.ts';

/** How an application decides who owns a purchase that several of its users claim. */
export const strategies = ['all', 'first', 'last'] as const;
export const Strategy = v.picklist(strategies);
export type Strategy = v.InferOutput<typeof Strategy>;

/** One user's claim to a purchase: by a validation, or linked by hand through the API. */
export const Claim = v.object({
  username: v.string(),
  source: v.picklist(['validation', 'manual']),
  /** Of a validation the first one, of a link the latest. */
  firstClaimedAt: v.number(),
  lastClaimedAt: v.number(),
});
export type Claim = v.InferOutput<typeof Claim>;

/** More than any family, and fewer than a stolen receipt is passed on to: the item of a purchase must hold its users. */
const maxClaims = 500;

/** Whether a claim comes too late to count: its user is answered, and owns nothing. */
export const exceedsClaimLimit = (claims: readonly Claim[], how: Claim['source'], strategy: Strategy): boolean =>
  claims.length >= maxClaims && how === 'validation' && strategy !== 'last';

/** The claims that are kept beside a new one: where the latest one counts, those of long ago are forgotten. */
export function evictOldestClaim(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < maxClaims) return claims;
  const validations = claims
    .filter(({ source }) => source === 'validation')
    .sort((a, b) => a.lastClaimedAt - b.lastClaimedAt);
  const [oldest] = validations;
  return claims.filter((claim) => claim !== oldest);
}

/** Who is entitled: the latest manual link alone, otherwise what the strategy makes of the validations; oldest first. */
export function resolveEntitledUsers(claims: readonly Claim[], strategy: Strategy): string[] {
  const manual = claims.filter(({ source }) => source === 'manual');
  if (manual.length > 0) return [findLatestClaimant(manual)];
  const byAge = [...claims].sort((a, b) => a.firstClaimedAt - b.firstClaimedAt || compare(a.username, b.username));
  if (strategy === 'all') return byAge.slice(0, maxClaims).map(({ username }) => username);
  if (byAge.length === 0) return [];
  return strategy === 'first' ? byAge.slice(0, 1).map(({ username }) => username) : [findLatestClaimant(byAge)];
}

/** Since when the claim entitles, of a user who is entitled now. */
export const getEntitledSince = ({ source, firstClaimedAt, lastClaimedAt }: Claim, strategy: Strategy): EpochMillis =>
  source === 'manual' || strategy === 'last' ? lastClaimedAt : firstClaimedAt;

/** The user's claim after claiming again; a manual link stays one whatever a validation says later. */
export function renewClaim(
  claim: Claim | undefined,
  username: string,
  source: Claim['source'],
  now: EpochMillis,
): Claim {
  if (!claim) return { username, source, firstClaimedAt: now, lastClaimedAt: now };
  if (source === 'manual') return { ...claim, source, lastClaimedAt: now };
  return claim.source === 'manual' ? claim : { ...claim, lastClaimedAt: now };
}

function findLatestClaimant(claims: readonly Claim[]): string {
  const [newest] = [...claims].sort((a, b) => b.lastClaimedAt - a.lastClaimedAt || compare(a.username, b.username));
  return newest?.username ?? '';
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
