import * as v from 'valibot';
import type { EpochMillis } from '../shared/time.ts';

/** The entitlement strategies: all claimants, the first claimant, or the claimant who validated last. */
export const strategies = ['all', 'first', 'last'] as const;
export const Strategy = v.picklist(strategies);
export type Strategy = v.InferOutput<typeof Strategy>;

/** A customer's claim to a purchase, by a validation or by a manual link through the API. */
export const Claim = v.object({
  username: v.string(),
  source: v.picklist(['validation', 'manual']),
  /** Time of the customer's first claim, in epoch milliseconds. */
  firstClaimedAt: v.number(),
  /** Source `validation`: time of the last claim that changed the entitled users. Source `manual`: time of the latest link. */
  lastClaimedAt: v.number(),
});
export type Claim = v.InferOutput<typeof Claim>;

/** Maximum number of claims. More than a family has; a leaked receipt must not outgrow the item of the purchase. */
const maxClaims = 500;

/** Whether a new claim is ignored because the purchase has the maximum number of claims. */
export const exceedsClaimLimit = (claims: readonly Claim[], source: Claim['source'], strategy: Strategy): boolean =>
  claims.length >= maxClaims && source === 'validation' && strategy !== 'last';

/** Makes room for a new claim: removes the oldest validation if the purchase has the maximum number of claims. */
export function evictOldestClaim(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < maxClaims) return claims;
  const [oldest] = claims
    .filter(({ source }) => source === 'validation')
    .sort((a, b) => a.lastClaimedAt - b.lastClaimedAt);
  return claims.filter((claim) => claim !== oldest);
}

/** Returns the entitled users, oldest claim first. The latest manual link takes precedence over the strategy. */
export function resolveEntitledUsers(claims: readonly Claim[], strategy: Strategy): string[] {
  const manualClaims = claims.filter(({ source }) => source === 'manual');
  if (manualClaims.length > 0) return [findLatestClaimant(manualClaims)];
  const byAge = [...claims].sort((a, b) => a.firstClaimedAt - b.firstClaimedAt || compare(a.username, b.username));
  if (strategy === 'all') return byAge.slice(0, maxClaims).map(({ username }) => username);
  if (byAge.length === 0) return [];
  return strategy === 'first' ? byAge.slice(0, 1).map(({ username }) => username) : [findLatestClaimant(byAge)];
}

/** Returns the time from which the claim of an entitled user entitles. */
export const getEntitledSince = ({ source, firstClaimedAt, lastClaimedAt }: Claim, strategy: Strategy): EpochMillis =>
  source === 'manual' || strategy === 'last' ? lastClaimedAt : firstClaimedAt;

/** Returns the customer's claim after a further claim. A validation does not change a manual link. */
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
  const [latest] = [...claims].sort((a, b) => b.lastClaimedAt - a.lastClaimedAt || compare(a.username, b.username));
  return latest?.username ?? '';
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
