import type { EpochMillis } from '../shared/time.ts';
import { selectAnnouncedReasons, type UpdateTrigger } from './announced-reasons.ts';
import { toCanonicalJson } from './canonical-json.ts';
import {
  type Claim,
  evictOldestClaim,
  exceedsClaimLimit,
  renewClaim,
  resolveEntitledUsers,
  type Strategy,
} from './claims.ts';
import { findLifecycleReasons, type NotificationReason } from './lifecycle-reasons.ts';
import { type EncryptedObservation, merge, type PurchaseState } from './merge.ts';
import { isActive } from './purchase.ts';
import { computeNextRefresh } from './refresh-schedule.ts';

/** A purchase as the table keeps it. */
export interface StoredPurchase {
  readonly state: PurchaseState;
  readonly claims: readonly Claim[];
  readonly entitledUsers: readonly string[];
  readonly createdAt: EpochMillis;
  readonly updatedAt: EpochMillis;
  /** When the store's state, or the clock, was last taken in; an expiry after it has not been announced yet. */
  readonly checkedAt: EpochMillis;
  /** When this service last asked the store by itself. */
  readonly lastRefreshAt?: EpochMillis;
  /** Refreshes that failed since the last one that did not. */
  readonly failedRefreshes?: number;
  /** When it is to be looked at next, when it is written; absent when nothing more happens to it by itself. */
  readonly nextRefreshAt?: EpochMillis;
  readonly version: number;
}

/** What happens to a purchase: the store's state was seen, a user claims it, its date has passed. */
export interface PurchaseUpdate {
  readonly trigger: UpdateTrigger;
  readonly observation?: EncryptedObservation;
  /** The purchase that this one replaces: a new purchase starts with its claims. */
  readonly replacedPurchase?: StoredPurchase;
  readonly claim?: { readonly username: string; readonly source: Claim['source'] };
  /** The user whom the store names; claims a purchase that nobody has claimed. */
  readonly storeUser?: string;
  /** What the store's message says in our words: tells a revocation from an expiry or a refund, which look alike. */
  readonly storeReason?: NotificationReason;
  readonly strategy: Strategy;
  readonly now: EpochMillis;
}

export interface PurchaseChange {
  readonly before: StoredPurchase | undefined;
  readonly after: StoredPurchase;
  /** What happened in the purchase's life, kept with it. */
  readonly lifecycleReasons: readonly NotificationReason[];
  /** What the application's server is told: the lifecycle, and what else is worth a call. */
  readonly announcedReasons: readonly NotificationReason[];
  /** The claims to write: new ones, and one that moves the ownership. */
  readonly newClaims: readonly Claim[];
  /** The claims that newer ones have crowded out. */
  readonly evictedClaims: readonly Claim[];
  /** Transactions that are new or tell something new. */
  readonly changedTransactions: PurchaseState['transactions'];
  readonly gainedUsers: readonly string[];
  readonly lostUsers: readonly string[];
}

/**
 * How far the store's clock of an otherwise unchanged state is moved on in the table: a look within this time is not
 * worth a write, as apps validate the same receipt many times in a row.
 */
const asOfResolutionMs = 60_000;

/** After this many failed refreshes (about half an hour) the date alone decides that a purchase has expired. */
const maxFailedRefreshes = 5;

/** What must be written for what happened, or undefined when the table already says it all. */
export function computePurchaseChange(
  before: StoredPurchase | undefined,
  happening: PurchaseUpdate,
): PurchaseChange | undefined {
  const known = happening.observation ? merge(before?.state, happening.observation) : before?.state;
  if (!known) return undefined;
  const claims = applyClaim(before?.claims ?? happening.replacedPurchase?.claims ?? [], happening);
  const after = applyUpdate(before, { known, claims }, happening);
  const gainedUsers = after.entitledUsers.filter((username) => !before?.entitledUsers.includes(username));
  const lostUsers = (before?.entitledUsers ?? []).filter((username) => !after.entitledUsers.includes(username));
  const lifecycleReasons = findReasons({ before, after }, happening);
  const isFirstEntitlement =
    before?.claims.length === 0 && gainedUsers.length > 0 && isActive(known.purchase, happening.now);
  const ownershipChanges = gainedUsers.length + lostUsers.length;
  const announcedReasons = selectAnnouncedReasons(
    {
      before: before?.state,
      after: known,
      lifecycleReasons,
      ownershipChanges,
      isFirstEntitlement,
      now: happening.now,
    },
    happening.trigger,
  );
  const change: PurchaseChange = {
    before,
    after,
    lifecycleReasons,
    announcedReasons,
    newClaims: claims.filter((candidate) => !before?.claims.includes(candidate)),
    evictedClaims: (before?.claims ?? []).filter(({ username }) => !claims.some((kept) => kept.username === username)),
    changedTransactions: findChangedTransactions(before?.state.transactions ?? [], known.transactions),
    gainedUsers,
    lostUsers,
  };
  return hasVisibleEffect(change, happening) ? change : undefined;
}

function applyUpdate(
  before: StoredPurchase | undefined,
  { known: state, claims }: { known: PurchaseState; claims: readonly Claim[] },
  { observation, trigger, strategy, now }: PurchaseUpdate,
): StoredPurchase {
  const isUnchanged = before && claims === before.claims && !observation;
  const lastRefreshAt = trigger === 'refresh' && observation ? now : before?.lastRefreshAt;
  const failedRefreshes = observation ? 0 : (before?.failedRefreshes ?? 0) + (trigger === 'refresh' ? 1 : 0);
  const refreshable = state.refreshToken !== undefined;
  const expiresByClock = trigger === 'refresh' && (!refreshable || failedRefreshes > maxFailedRefreshes);
  const checkedAt = observation || expiresByClock ? now : (before?.checkedAt ?? now);
  // As of what was taken in: an expiry that has passed since is not told yet, and is looked at.
  const nextRefreshAt = computeNextRefresh(state.purchase, {
    now: trigger === 'refresh' ? now : checkedAt,
    failures: failedRefreshes,
    refreshable,
  });
  return {
    state,
    claims,
    entitledUsers: isUnchanged ? before.entitledUsers : resolveEntitledUsers(claims, strategy),
    createdAt: before?.createdAt ?? now,
    // Who reads by the date of update meets every change, also one by a clock that is behind.
    updatedAt: Math.max(now, (before?.updatedAt ?? 0) + 1),
    checkedAt,
    ...(lastRefreshAt !== undefined && { lastRefreshAt }),
    ...(failedRefreshes > 0 && { failedRefreshes }),
    ...(nextRefreshAt !== undefined && { nextRefreshAt }),
    version: (before?.version ?? 0) + 1,
  };
}

function findReasons(
  { before, after }: Pick<PurchaseChange, 'before' | 'after'>,
  happening: PurchaseUpdate,
): NotificationReason[] {
  const { replacedPurchase, storeReason } = happening;
  const from = before && { state: before.state, at: before.checkedAt };
  const reasons = findLifecycleReasons(from, { state: after.state, at: after.checkedAt }, storeReason);
  const isPlanChange =
    !before &&
    replacedPurchase !== undefined &&
    replacedPurchase.state.purchase.productId !== after.state.purchase.productId;
  const revocationReason = storeReason === 'REVOKED' && revocationReasons.find((reason) => reasons.includes(reason));
  return reasons.map((reason) => {
    if (reason === 'PURCHASED' && isPlanChange) return 'PLAN_CHANGED';
    return reason === revocationReason ? 'REVOKED' : reason;
  });
}

/** As what a revocation shows, the surest first: one message tells of one of them, and another stays what it is. */
const revocationReasons = ['REVOKED', 'REFUNDED', 'EXPIRED'] as const;

/** The claims with the user's new one; the same array when the claim tells nothing that could move the ownership. */
function applyClaim(claims: readonly Claim[], happening: PurchaseUpdate): readonly Claim[] {
  const { strategy } = happening;
  const claim = happening.claim ?? claimForStoreUser(claims, happening);
  if (!claim) return claims;
  const present = claims.find(({ username }) => username === claim.username);
  if (!present && exceedsClaimLimit(claims, claim.source, strategy)) return claims;
  const next = renewClaim(present, claim.username, claim.source, claimTime(claims, claim.source, happening));
  const others = evictOldestClaim(claims.filter((candidate) => candidate !== present));
  if (!present || present.source !== next.source) return [...others, next];
  const after = [...others, next];
  const moves =
    toCanonicalJson(resolveEntitledUsers(after, strategy)) !== toCanonicalJson(resolveEntitledUsers(claims, strategy));
  return moves ? after : claims;
}

/** Where the latest claim decides it is later than all others, also by a clock that is behind. */
const claimTime = (claims: readonly Claim[], how: Claim['source'], { strategy, now }: PurchaseUpdate): EpochMillis =>
  how === 'manual' || strategy === 'last'
    ? Math.max(now, ...claims.map(({ lastClaimedAt }) => lastClaimedAt + 1))
    : now;

const claimForStoreUser = (claims: readonly Claim[], { storeUser }: PurchaseUpdate): PurchaseUpdate['claim'] =>
  storeUser !== undefined && claims.length === 0 ? { username: storeUser, source: 'validation' } : undefined;

const findChangedTransactions = (
  before: PurchaseState['transactions'],
  after: PurchaseState['transactions'],
): PurchaseState['transactions'] => {
  const contents = new Set(before.map(({ transaction }) => toCanonicalJson(transaction)));
  return after.filter(({ transaction }) => !contents.has(toCanonicalJson(transaction)));
};

/** A look of the service itself is always written: it moves the date of the next one. */
function hasVisibleEffect(change: PurchaseChange, { trigger }: PurchaseUpdate): boolean {
  const { before, after } = change;
  return (
    !before ||
    trigger === 'refresh' ||
    change.newClaims.length > 0 ||
    change.announcedReasons.length + change.lifecycleReasons.length + change.changedTransactions.length > 0 ||
    change.gainedUsers.length + change.lostUsers.length > 0 ||
    toCanonicalJson(before.state.purchase) !== toCanonicalJson(after.state.purchase) ||
    before.state.userAliases.length !== after.state.userAliases.length ||
    (before.state.refreshToken === undefined && after.state.refreshToken !== undefined) ||
    after.state.asOf - before.state.asOf > asOfResolutionMs
  );
}
