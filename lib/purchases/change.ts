import { lifecycleReasons, type NotificationReason } from '../notifications/reasons.ts';
import { canonical } from './canonical.ts';
import { type Claim, claimAgain, entitledUsers, isLateComer, type Strategy, stillKnown } from './claims.ts';
import { nextLook } from './due.ts';
import { type Known, merge, type Seen } from './merge.ts';
import { type Cause, newsOf } from './news.ts';
import { isActive, type Millis } from './purchase.ts';

/** A purchase as the table keeps it. */
export interface StoredPurchase {
  readonly known: Known;
  readonly claims: readonly Claim[];
  readonly entitledUsers: readonly string[];
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  /** When the store's state, or the clock, was last taken in; an expiry after it has not been announced yet. */
  readonly seenAt: Millis;
  /** When this service last asked the store by itself. */
  readonly refreshedAt?: Millis;
  /** Refreshes that failed since the last one that did not. */
  readonly failures?: number;
  /** When it is to be looked at next, when it is written; absent when nothing more happens to it by itself. */
  readonly dueAt?: Millis;
  readonly version: number;
}

/** What happens to a purchase: the store's state was seen, a user claims it, its date has passed. */
export interface Happening {
  readonly cause: Cause;
  readonly observed?: Seen;
  /** The purchase that this one replaces: a new purchase starts with its claims. */
  readonly replaced?: StoredPurchase;
  readonly claim?: { readonly username: string; readonly how: Claim['how'] };
  /** The user whom the store names; claims a purchase that nobody has claimed. */
  readonly named?: string;
  /** What the store's message says in our words: tells a revocation from an expiry or a refund, which look alike. */
  readonly told?: NotificationReason;
  readonly strategy: Strategy;
  readonly now: Millis;
}

export interface Change {
  readonly before: StoredPurchase | undefined;
  readonly after: StoredPurchase;
  /** What happened in the purchase's life, kept with it. */
  readonly reasons: readonly NotificationReason[];
  /** What the application's server is told: the lifecycle, and what else is worth a call. */
  readonly news: readonly NotificationReason[];
  /** The claims to write: new ones, and one that moves the ownership. */
  readonly claims: readonly Claim[];
  /** The claims that newer ones have crowded out. */
  readonly forgotten: readonly Claim[];
  /** Transactions that are new or tell something new. */
  readonly transactions: Known['transactions'];
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/**
 * How far the store's clock of an otherwise unchanged state is moved on in the table: a look within this time is not
 * worth a write, as apps validate the same receipt many times in a row.
 */
const asOfResolutionMs = 60_000;

/** After this many failed refreshes (about half an hour) the date alone decides that a purchase has expired. */
const patience = 5;

/** What must be written for what happened, or undefined when the table already says it all. */
export function changeOf(before: StoredPurchase | undefined, happening: Happening): Change | undefined {
  const known = happening.observed ? merge(before?.known, happening.observed) : before?.known;
  if (!known) return undefined;
  const claims = claimsAfter(before?.claims ?? happening.replaced?.claims ?? [], happening);
  const after = purchaseAfter(before, { known, claims }, happening);
  const gained = after.entitledUsers.filter((username) => !before?.entitledUsers.includes(username));
  const lost = (before?.entitledUsers ?? []).filter((username) => !after.entitledUsers.includes(username));
  const reasons = reasonsOf({ before, after }, happening);
  const isFirstOwned = before?.claims.length === 0 && gained.length > 0 && isActive(known.purchase, happening.now);
  const moved = gained.length + lost.length;
  const news = newsOf(
    { before: before?.known, after: known, lifecycle: reasons, moved, isFirstOwned, now: happening.now },
    happening.cause,
  );
  const change: Change = {
    before,
    after,
    reasons,
    news,
    claims: claims.filter((candidate) => !before?.claims.includes(candidate)),
    forgotten: (before?.claims ?? []).filter(({ username }) => !claims.some((kept) => kept.username === username)),
    transactions: newsIn(before?.known.transactions ?? [], known.transactions),
    gained,
    lost,
  };
  return isWorthWriting(change, happening) ? change : undefined;
}

function purchaseAfter(
  before: StoredPurchase | undefined,
  { known, claims }: { known: Known; claims: readonly Claim[] },
  { observed, cause, strategy, now }: Happening,
): StoredPurchase {
  const unmoved = before && claims === before.claims && !observed;
  const refreshedAt = cause === 'refresh' && observed ? now : before?.refreshedAt;
  const failures = observed ? 0 : (before?.failures ?? 0) + (cause === 'refresh' ? 1 : 0);
  const refreshable = known.refreshToken !== undefined;
  const clockDecides = cause === 'refresh' && (!refreshable || failures > patience);
  const seenAt = observed || clockDecides ? now : (before?.seenAt ?? now);
  // As of what was taken in: an expiry that has passed since is not told yet, and is looked at.
  const dueAt = nextLook(known.purchase, { now: cause === 'refresh' ? now : seenAt, failures, refreshable });
  return {
    known,
    claims,
    entitledUsers: unmoved ? before.entitledUsers : entitledUsers(claims, strategy),
    createdAt: before?.createdAt ?? now,
    // Who reads by the date of update meets every change, also one by a clock that is behind.
    updatedAt: Math.max(now, (before?.updatedAt ?? 0) + 1),
    seenAt,
    ...(refreshedAt !== undefined && { refreshedAt }),
    ...(failures > 0 && { failures }),
    ...(dueAt !== undefined && { dueAt }),
    version: (before?.version ?? 0) + 1,
  };
}

function reasonsOf({ before, after }: Pick<Change, 'before' | 'after'>, happening: Happening): NotificationReason[] {
  const { replaced, told } = happening;
  const from = before && { known: before.known, at: before.seenAt };
  const reasons = lifecycleReasons(from, { known: after.known, at: after.seenAt }, told);
  const isOtherPlan =
    !before && replaced !== undefined && replaced.known.purchase.productId !== after.known.purchase.productId;
  const taking = told === 'REVOKED' && takings.find((reason) => reasons.includes(reason));
  return reasons.map((reason) => {
    if (reason === 'PURCHASED' && isOtherPlan) return 'PLAN_CHANGED';
    return reason === taking ? 'REVOKED' : reason;
  });
}

/** As what a revocation shows, the surest first: one message tells of one of them, and another stays what it is. */
const takings = ['REVOKED', 'REFUNDED', 'EXPIRED'] as const;

/** The claims with the user's new one; the same array when the claim tells nothing that could move the ownership. */
function claimsAfter(claims: readonly Claim[], happening: Happening): readonly Claim[] {
  const { strategy } = happening;
  const claim = happening.claim ?? nameClaim(claims, happening);
  if (!claim) return claims;
  const present = claims.find(({ username }) => username === claim.username);
  if (!present && isLateComer(claims, claim.how, strategy)) return claims;
  const next = claimAgain(present, claim.username, claim.how, momentOf(claims, claim.how, happening));
  const others = stillKnown(claims.filter((candidate) => candidate !== present));
  if (!present || present.how !== next.how) return [...others, next];
  const after = [...others, next];
  const moves = canonical(entitledUsers(after, strategy)) !== canonical(entitledUsers(claims, strategy));
  return moves ? after : claims;
}

/** Where the latest claim decides it is later than all others, also by a clock that is behind. */
const momentOf = (claims: readonly Claim[], how: Claim['how'], { strategy, now }: Happening): Millis =>
  how === 'manual' || strategy === 'last' ? Math.max(now, ...claims.map(({ lastAt }) => lastAt + 1)) : now;

const nameClaim = (claims: readonly Claim[], { named }: Happening): Happening['claim'] =>
  named !== undefined && claims.length === 0 ? { username: named, how: 'validation' } : undefined;

const newsIn = (before: Known['transactions'], after: Known['transactions']): Known['transactions'] => {
  const contents = new Set(before.map(({ transaction }) => canonical(transaction)));
  return after.filter(({ transaction }) => !contents.has(canonical(transaction)));
};

/** A look of the service itself is always written: it moves the date of the next one. */
function isWorthWriting(change: Change, { cause }: Happening): boolean {
  const { before, after } = change;
  return (
    !before ||
    cause === 'refresh' ||
    change.claims.length > 0 ||
    change.news.length + change.reasons.length + change.transactions.length > 0 ||
    change.gained.length + change.lost.length > 0 ||
    canonical(before.known.purchase) !== canonical(after.known.purchase) ||
    before.known.userTokens.length !== after.known.userTokens.length ||
    (before.known.refreshToken === undefined && after.known.refreshToken !== undefined) ||
    after.known.asOf - before.known.asOf > asOfResolutionMs
  );
}
