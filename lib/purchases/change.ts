import { lifecycleReasons, type NotificationReason } from '../notifications/reasons.ts';
import { type Claim, claimAgain, entitledUsers, type Strategy } from './claims.ts';
import { canonical, type Known, merge, type Seen } from './merge.ts';
import type { Millis } from './purchase.ts';

/** A purchase as the table keeps it. */
export interface StoredPurchase {
  readonly known: Known;
  readonly claims: readonly Claim[];
  readonly entitledUsers: readonly string[];
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  /** When the store's state was last taken in; an expiry after it has not been announced yet. */
  readonly seenAt: Millis;
  readonly version: number;
}

/** What happens to a purchase: the store's state was seen, a user claims it, or both. */
export interface Happening {
  readonly observed?: Seen;
  /** The claims of the purchase that this one replaces; a new purchase starts with them. */
  readonly inherited?: readonly Claim[];
  readonly claim?: { readonly username: string; readonly how: Claim['how'] };
  readonly strategy: Strategy;
  readonly now: Millis;
}

export interface Change {
  readonly before: StoredPurchase | undefined;
  readonly after: StoredPurchase;
  readonly reasons: readonly NotificationReason[];
  /** The claims to write: new ones, and one that moves the ownership. */
  readonly claims: readonly Claim[];
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

/** What must be written for what happened, or undefined when the table already says it all. */
export function changeOf(before: StoredPurchase | undefined, happening: Happening): Change | undefined {
  const { observed, now, strategy } = happening;
  const known = observed ? merge(before?.known, observed) : before?.known;
  if (!known) return undefined;
  const claims = claimsAfter(before?.claims ?? happening.inherited ?? [], happening);
  const entitled =
    before && claims === before.claims && !observed ? before.entitledUsers : entitledUsers(claims, strategy);
  const newClaims = claims.filter((candidate) => !before?.claims.includes(candidate));
  const after: StoredPurchase = {
    known,
    claims,
    entitledUsers: entitled,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    seenAt: observed ? now : (before?.seenAt ?? now),
    version: (before?.version ?? 0) + 1,
  };
  const transactions = newsIn(before?.known.transactions ?? [], known.transactions);
  const reasons = lifecycleReasons(before && { known: before.known, at: before.seenAt }, { known, at: after.seenAt });
  const gained = entitled.filter((username) => !before?.entitledUsers.includes(username));
  const lost = (before?.entitledUsers ?? []).filter((username) => !entitled.includes(username));
  const change = { before, after, reasons, claims: newClaims, transactions, gained, lost };
  return isWorthWriting(change) ? change : undefined;
}

/** The claims with the user's new one; the same array when the claim tells nothing that could move the ownership. */
function claimsAfter(claims: readonly Claim[], { claim, strategy, now }: Happening): readonly Claim[] {
  if (!claim) return claims;
  const present = claims.find(({ username }) => username === claim.username);
  const next = claimAgain(present, claim.username, claim.how, now);
  const others = claims.filter((candidate) => candidate !== present);
  if (!present || present.how !== next.how) return [...others, next];
  const after = [...others, next];
  const moves = canonical(entitledUsers(after, strategy)) !== canonical(entitledUsers(claims, strategy));
  return moves ? after : claims;
}

const newsIn = (before: Known['transactions'], after: Known['transactions']): Known['transactions'] => {
  const contents = new Set(before.map(({ transaction }) => canonical(transaction)));
  return after.filter(({ transaction }) => !contents.has(canonical(transaction)));
};

function isWorthWriting(change: Change): boolean {
  const { before, after } = change;
  return (
    !before ||
    change.claims.length > 0 ||
    change.reasons.length + change.transactions.length + change.gained.length + change.lost.length > 0 ||
    canonical(before.known.purchase) !== canonical(after.known.purchase) ||
    before.known.userTokens.length !== after.known.userTokens.length ||
    after.known.asOf - before.known.asOf > asOfResolutionMs
  );
}
