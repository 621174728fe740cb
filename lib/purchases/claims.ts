import * as v from 'valibot';
import type { Millis } from './purchase.ts';

/** How an application decides who owns a purchase that several of its users claim. */
export const strategies = ['all', 'first', 'last'] as const;
export const Strategy = v.picklist(strategies);
export type Strategy = v.InferOutput<typeof Strategy>;

/** One user's claim to a purchase: by a validation, or linked by hand through the API. */
export const Claim = v.object({
  username: v.string(),
  how: v.picklist(['validation', 'manual']),
  /** Of a validation the first one, of a link the latest. */
  firstAt: v.number(),
  lastAt: v.number(),
});
export type Claim = v.InferOutput<typeof Claim>;

/** More than any family, and fewer than a stolen receipt is passed on to: the item of a purchase must hold its users. */
const mostUsers = 500;

/** Whether a claim comes too late to count: its user is answered, and owns nothing. */
export const isLateComer = (claims: readonly Claim[], how: Claim['how'], strategy: Strategy): boolean =>
  claims.length >= mostUsers && how === 'validation' && strategy !== 'last';

/** The claims that are kept beside a new one: where the latest one counts, those of long ago are forgotten. */
export function stillKnown(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < mostUsers) return claims;
  const validations = claims.filter(({ how }) => how === 'validation').sort((a, b) => a.lastAt - b.lastAt);
  const [oldest] = validations;
  return claims.filter((claim) => claim !== oldest);
}

/** Who is entitled: the latest manual link alone, otherwise what the strategy makes of the validations; oldest first. */
export function entitledUsers(claims: readonly Claim[], strategy: Strategy): string[] {
  const manual = claims.filter(({ how }) => how === 'manual');
  if (manual.length > 0) return [newestOf(manual, 'lastAt')];
  const byAge = [...claims].sort((a, b) => a.firstAt - b.firstAt || compare(a.username, b.username));
  if (strategy === 'all') return byAge.slice(0, mostUsers).map(({ username }) => username);
  if (byAge.length === 0) return [];
  return strategy === 'first' ? byAge.slice(0, 1).map(({ username }) => username) : [newestOf(byAge, 'lastAt')];
}

/** Since when the claim entitles, of a user who is entitled now. */
export const entitledSince = ({ how, firstAt, lastAt }: Claim, strategy: Strategy): Millis =>
  how === 'manual' || strategy === 'last' ? lastAt : firstAt;

/** The user's claim after claiming again; a manual link stays one whatever a validation says later. */
export function claimAgain(claim: Claim | undefined, username: string, how: Claim['how'], now: Millis): Claim {
  if (!claim) return { username, how, firstAt: now, lastAt: now };
  if (how === 'manual') return { ...claim, how, lastAt: now };
  return claim.how === 'manual' ? claim : { ...claim, lastAt: now };
}

function newestOf(claims: readonly Claim[], date: 'lastAt'): string {
  const [newest] = [...claims].sort((a, b) => b[date] - a[date] || compare(a.username, b.username));
  return newest?.username ?? '';
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
