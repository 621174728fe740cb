import * as v from 'valibot';
import { OptionalNumber, OptionalTrue } from '../api/schemas.ts';
import type { Strategy } from '../apps/app.ts';
import { type EpochMillis, minuteMs } from '../foundation/time.ts';
import { containsMd5Alias } from './user-aliases.ts';

/**
 * A customer's claim to a purchase, by a validation, by a user alias in a store notification, or by a manual link
 * through the API.
 */
export const Claim = v.object({
  username: v.string(),
  source: v.picklist(['validation', 'alias', 'manual']),
  /** Time of the customer's first claim, in epoch milliseconds. Later than the claims that were stored before. */
  firstClaimedAt: v.number(),
  /**
   * Source `manual`: time of the latest link. Other sources: time of the last claim that changed the entitled users.
   */
  lastClaimedAt: v.number(),
  /**
   * The purchase gave another customer access at the time of the claim. With strategy `last-if-inactive`, the claim
   * then does not entitle until the customer claims again.
   */
  hasYielded: OptionalTrue,
  /** Time at which an import recorded the claim with its earlier times. The claim entitles from then on. */
  importedAt: OptionalNumber,
});
export type Claim = v.InferOutput<typeof Claim>;

/** A claim that a merge of two customers has moved, with what is needed to return it. */
export interface MovedClaim {
  readonly mergeId: string;
  readonly movedAt: EpochMillis;
  /** The claim of the merged customer before the merge. Absent if the purchase was unclaimed. */
  readonly claim?: Claim;
  /** The claim of the receiving customer before the merge, if there was one. */
  readonly replaced?: Claim;
  /** The claim of the receiving customer after the merge. */
  readonly result: Claim;
}

/** A claim before it is applied to the claims of a purchase. */
export interface ClaimRequest {
  readonly username: string;
  readonly source: Claim['source'];
  /** Claims by alias yield to a form of the customer's name in the store's observation. */
  readonly isNamedByStore?: boolean;
  /** Time of a claim that an import brings from another service. Default: now. */
  readonly claimedAt?: EpochMillis;
}

/** The claim of a validation that met a concurrent writer. The next validation of the purchase applies it too. */
export interface SharedClaim {
  readonly id: string;
  readonly username: string;
  readonly isNamedByStore: boolean;
  readonly sharedAt: EpochMillis;
}

/** Age from which a shared claim is ignored: its validation has ended, and later claims must not yield to it. */
const maxSharedClaimAgeMs = minuteMs;

/** Maximum number of shared claims in one change, so that its writes fit into one transaction. */
const maxSharedClaims = 20;

/** Selects the shared claims that a change applies. Later changes apply the other ones. */
export const selectSharedClaims = (sharedClaims: readonly SharedClaim[], now: EpochMillis): readonly SharedClaim[] =>
  sharedClaims.filter(({ sharedAt }) => now - sharedAt < maxSharedClaimAgeMs).slice(0, maxSharedClaims);

/** Maximum number of claims. More than a family has; a leaked receipt must not outgrow the item of the purchase. */
const maxClaims = 500;

/**
 * Maximum bytes of the names of all claimants. DynamoDB limits an item to 400 KB, and the purchase item contains the
 * entitled users as well as the purchase state.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maxUsernameBytes = 150_000;

function isWithinItemSize(usernames: readonly string[]): boolean {
  return usernames.length <= maxClaims && Buffer.byteLength(usernames.join('')) <= maxUsernameBytes;
}

/**
 * Returns the first usernames that fit into the purchase item. A username after the first that does not fit is left
 * out.
 */
export function limitUsernames(usernames: readonly string[]): string[] {
  let bytes = 0;
  const end = usernames.findIndex((username, index) => {
    bytes += Buffer.byteLength(username);
    return index >= maxClaims || bytes > maxUsernameBytes;
  });
  return end === -1 ? [...usernames] : usernames.slice(0, end);
}

/** What decides about a claim. */
export interface ClaimRules {
  readonly userAliases: readonly string[];
  readonly strategy: Strategy;
  /** The purchase gave access before the update with the claim. Default: false. */
  readonly isInUse?: boolean;
  readonly now: EpochMillis;
}

/** The latest claim decides. */
export const isLastStrategy = (strategy: Strategy): boolean => strategy === 'last' || strategy === 'last-if-inactive';

const hasOtherOwner = (claims: readonly Claim[], username: string, strategy: Strategy): boolean =>
  resolveEntitledUsers(claims, strategy).some((owner) => owner !== username);

/**
 * Returns the claims with another one. Returns the same array if the claim changes neither the claims nor the
 * entitled users: a claim of an entitled customer, or a validation beyond the limits. The time of a claim is later than
 * all stored claims, even if the clock of its writer is behind. An imported claim keeps its own time and evicts no
 * other.
 */
export function addClaim(
  claims: readonly Claim[],
  request: ClaimRequest,
  { userAliases, strategy, isInUse, now }: ClaimRules,
): readonly Claim[] {
  const { username, source } = request;
  const kept = request.isNamedByStore ? claims.filter((claim) => !isSuperseded(claim, username, userAliases)) : claims;
  const others = kept.filter((claim) => claim.username !== username);
  const existing = kept.find((claim) => claim.username === username);
  if (request.claimedAt !== undefined) {
    const past = createPastClaim(existing, request, { claimedAt: Math.min(request.claimedAt, now), now });
    const isUnchanged = past === existing && kept.length === claims.length;
    return isUnchanged || !isWithinItemSize([...listUsernames(others), username]) ? claims : [...others, past];
  }
  const mustYield =
    strategy === 'last-if-inactive' && source !== 'manual' && isInUse && hasOtherOwner(kept, username, strategy);
  const replacesClaims = source === 'manual' || (isLastStrategy(strategy) && !mustYield);
  if (!existing && !replacesClaims && !isWithinItemSize([...listUsernames(others), username])) return claims;
  const claimedAt = Math.max(now, ...claims.map(({ lastClaimedAt }) => lastClaimedAt + 1));
  const renewed = mustYield ? yieldClaim(existing, request, claimedAt) : renewClaim(existing, request, claimedAt);
  const newClaims = [...(existing ? others : evictOldestClaims(others, username)), renewed];
  const isNew = newClaims.length !== claims.length || existing?.source !== renewed.source;
  return isNew || changesEntitledUsers(claims, newClaims, strategy) ? newClaims : claims;
}

/** The validation of the customer that the store names supersedes a claim by alias. An MD5 alias is unambiguous. */
const isSuperseded = (claim: Claim, username: string, userAliases: readonly string[]): boolean =>
  claim.source === 'alias' && claim.username !== username && !containsMd5Alias(userAliases, claim.username);

/** Returns the customer's claim after another claim. A validation does not change a manual link. */
function renewClaim(claim: Claim | undefined, { username, source }: ClaimRequest, claimedAt: EpochMillis): Claim {
  if (!claim) return { username, source, firstClaimedAt: claimedAt, lastClaimedAt: claimedAt };
  if (claim.source === 'manual' && source !== 'manual') return claim;
  const { hasYielded: _yielded, ...claimed } = claim;
  return { ...claimed, source, lastClaimedAt: claimedAt };
}

/** Returns a claim that does not entitle. An existing one had yielded before, or it is the claim of a former owner. */
const yieldClaim = (claim: Claim | undefined, { username, source }: ClaimRequest, claimedAt: EpochMillis): Claim => ({
  username,
  source,
  firstClaimedAt: claimedAt,
  lastClaimedAt: claimedAt,
  ...claim,
  hasYielded: true,
});

/**
 * Returns the customer's claim after an imported one, which has its own time: with strategy `last` it does not replace
 * a later claim, and with `first` it replaces one. Imports in any order, and repeated ones, have the same result. Does
 * not change a manual link.
 */
function createPastClaim(
  claim: Claim | undefined,
  { username, source }: ClaimRequest,
  { claimedAt, now }: { readonly claimedAt: EpochMillis; readonly now: EpochMillis },
): Claim {
  if (!claim) return { username, source, firstClaimedAt: claimedAt, lastClaimedAt: claimedAt, importedAt: now };
  const firstClaimedAt = Math.min(claim.firstClaimedAt, claimedAt);
  const lastClaimedAt = Math.max(claim.lastClaimedAt, claimedAt);
  const isUnchanged = firstClaimedAt === claim.firstClaimedAt && lastClaimedAt === claim.lastClaimedAt;
  if (claim.source === 'manual' || (isUnchanged && claim.source === source)) return claim;
  return { ...claim, source, firstClaimedAt, lastClaimedAt, importedAt: now };
}

/** Removes the oldest claims until a new claimant fits. Manual links stay. */
function evictOldestClaims(claims: readonly Claim[], username: string): readonly Claim[] {
  if (isWithinItemSize([...listUsernames(claims), username])) return claims;
  const [oldest] = claims.filter(({ source }) => source !== 'manual').sort((a, b) => a.lastClaimedAt - b.lastClaimedAt);
  return oldest
    ? evictOldestClaims(
        claims.filter((claim) => claim !== oldest),
        username,
      )
    : claims;
}

const changesEntitledUsers = (before: readonly Claim[], after: readonly Claim[], strategy: Strategy): boolean =>
  JSON.stringify(resolveEntitledUsers(before, strategy)) !== JSON.stringify(resolveEntitledUsers(after, strategy));

/** Returns the entitled users, oldest claim first. The latest manual link takes precedence over the strategy. */
export function resolveEntitledUsers(claims: readonly Claim[], strategy: Strategy): string[] {
  const manualClaims = claims.filter(({ source }) => source === 'manual');
  if (manualClaims.length > 0) return [findLatestClaimant(manualClaims)];
  const byAge = [...claims].sort((a, b) => a.firstClaimedAt - b.firstClaimedAt || compare(a.username, b.username));
  if (strategy === 'all') return limitUsernames(listUsernames(byAge));
  if (byAge.length === 0) return [];
  if (strategy === 'first') return listUsernames(byAge.slice(0, 1));
  // All claims have yielded to a customer who was erased since: the latest one entitles.
  const claimed = strategy === 'last' ? byAge : byAge.filter(({ hasYielded }) => !hasYielded);
  return [findLatestClaimant(claimed.length > 0 ? claimed : byAge)];
}

/** Returns the time from which the claim of an entitled user entitles. */
export const getEntitledSince = (
  { source, firstClaimedAt, lastClaimedAt, importedAt = 0 }: Claim,
  strategy: Strategy,
): EpochMillis =>
  Math.max(importedAt, source === 'manual' || isLastStrategy(strategy) ? lastClaimedAt : firstClaimedAt);

function findLatestClaimant(claims: readonly Claim[]): string {
  const [latest] = [...claims].sort((a, b) => b.lastClaimedAt - a.lastClaimedAt || compare(a.username, b.username));
  return latest?.username ?? '';
}

const listUsernames = (claims: readonly Claim[]): string[] => claims.map(({ username }) => username);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
