import type { Strategy } from '../apps/app.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { type Claim, type MovedClaim, resolveEntitledUsers } from './claims.ts';
import { replaceClaims, selectOwnershipReasons } from './ownership-change.ts';
import type { PurchaseChange } from './purchase-change.ts';
import type { StoredPurchase } from './stored-purchase.ts';

interface MoveInput {
  readonly mergeId: string;
  readonly from: string;
  readonly to: string;
  readonly strategy: Strategy;
  readonly now: EpochMillis;
}

/**
 * Computes the change that moves the claim of one customer to another one. The claim keeps its source and its times, so
 * the strategy decides as if the receiving customer had made it. Returns undefined without a claim to move.
 */
export function computeClaimMove(before: StoredPurchase, input: MoveInput): PurchaseChange | undefined {
  const { mergeId, from, to, now } = input;
  const claim = findClaim(before, from);
  if (!claim) return undefined;
  const replaced = findClaim(before, to);
  const result = combineClaims(replaced, { ...claim, username: to });
  const movedClaim = { mergeId, movedAt: now, claim, result, ...(replaced && { replaced }) };
  const kept = before.claims.filter((other) => other !== claim && other !== replaced);
  return { ...buildClaimChange(before, [...kept, result], input), movedClaim };
}

/**
 * Computes the change that returns a moved claim. The receiving customer keeps a claim that has changed since the
 * merge, and the merged customer keeps an own later claim. Returns undefined if there is nothing to change.
 */
export function computeClaimReturn(
  before: StoredPurchase,
  { claim, replaced, result }: MovedClaim,
  { strategy, now }: Pick<MoveInput, 'strategy' | 'now'>,
): PurchaseChange | undefined {
  const current = findClaim(before, result.username);
  const isUnchanged = current !== undefined && isSameClaim(current, result);
  if (!claim) {
    // The purchase was unclaimed, and is again unless another customer has claimed it since.
    const others = before.claims.filter((other) => other !== current);
    return isUnchanged ? buildReturn(before, others, { strategy, now }) : undefined;
  }
  const own = findClaim(before, claim.username);
  const returned = combineClaims(own, claim);
  const kept = before.claims.filter((other) => other !== own && !(isUnchanged && other === current));
  const claims = [...kept, returned, ...(isUnchanged && replaced ? [replaced] : [])];
  if (!isUnchanged && own && isSameClaim(own, returned)) return undefined;
  return buildReturn(before, claims, { strategy, now });
}

/** All owners are recipients: a list of recipients would keep the name of a customer without a claim. */
function buildReturn(
  before: StoredPurchase,
  claims: readonly Claim[],
  context: Pick<MoveInput, 'strategy' | 'now'>,
): PurchaseChange {
  const { announcedUsers: _announcedUsers, ...change } = buildClaimChange(before, claims, context);
  return change;
}

const findClaim = ({ claims }: StoredPurchase, username: string): Claim | undefined =>
  claims.find((claim) => claim.username === username);

const isSameClaim = (a: Claim, b: Claim): boolean =>
  a.username === b.username &&
  a.source === b.source &&
  a.firstClaimedAt === b.firstClaimedAt &&
  a.lastClaimedAt === b.lastClaimedAt &&
  a.hasYielded === b.hasYielded &&
  a.importedAt === b.importedAt;

/** Combines two claims of a customer into one. A manual link takes precedence, with its own time. */
function combineClaims(own: Claim | undefined, moved: Claim): Claim {
  if (!own) return moved;
  const manual = [own, moved].filter(({ source }) => source === 'manual');
  const decisive = manual.length > 0 ? manual : [own, moved];
  const importedAt = Math.min(own.importedAt ?? 0, moved.importedAt ?? 0);
  const isValidation = [own, moved].some(({ source }) => source === 'validation');
  return {
    username: own.username,
    source: manual.length > 0 ? 'manual' : isValidation ? 'validation' : 'alias',
    firstClaimedAt: Math.min(own.firstClaimedAt, moved.firstClaimedAt),
    lastClaimedAt: Math.max(...decisive.map(({ lastClaimedAt }) => lastClaimedAt)),
    ...(own.hasYielded && moved.hasYielded && { hasYielded: true }),
    ...(importedAt > 0 && { importedAt }),
  };
}

function buildClaimChange(
  before: StoredPurchase,
  claims: readonly Claim[],
  { strategy, now }: Pick<MoveInput, 'strategy' | 'now'>,
): PurchaseChange {
  const entitledUsers = resolveEntitledUsers(claims, strategy);
  const gainedUsers = entitledUsers.filter((user) => !before.entitledUsers.includes(user));
  const lostUsers = before.entitledUsers.filter((user) => !entitledUsers.includes(user));
  const announcedUsers = [...gainedUsers, ...lostUsers];
  const { state } = before;
  return {
    before,
    after: replaceClaims(before, { state, claims, entitledUsers }, now),
    lifecycleReasons: [],
    announcedReasons: announcedUsers.length > 0 ? selectOwnershipReasons(state.purchase, announcedUsers, now) : [],
    announcedUsers,
    newClaims: claims.filter((claim) => !before.claims.includes(claim)),
    copiedClaims: [],
    appliedClaims: [],
    evictedClaims: before.claims.filter(({ username }) => !claims.some((claim) => claim.username === username)),
    changedTransactions: [],
    removedTransactions: [],
    changedFigures: [],
    gainedUsers,
    lostUsers,
  };
}
