import type { Strategy } from '../apps/app.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { resolveEntitledUsers } from './claims.ts';
import type { PurchaseState } from './merge.ts';
import { replaceClaims, selectOwnershipReasons } from './ownership-change.ts';
import type { Purchase } from './purchase.ts';
import type { PurchaseChange } from './purchase-change.ts';
import type { StoredPurchase } from './stored-purchase.ts';
import { normalizeAlias } from './user-aliases.ts';

/** The parts of a stored purchase to remove. */
interface UserErasure {
  readonly username: string;
  /** Normalized user aliases. */
  readonly aliases: ReadonlySet<string>;
  /** The refresh token names the user. Without it, the store cannot be queried for the purchase. */
  readonly removesRefreshToken: boolean;
  readonly strategy: Strategy;
  readonly now: EpochMillis;
}

/**
 * Computes the change that removes a user from a purchase. The remaining claims determine the entitled users. The
 * erased user is not a recipient of announcements. Returns undefined if the purchase does not name the user.
 */
export function computeUserErasure(before: StoredPurchase, erasure: UserErasure): PurchaseChange | undefined {
  const { username, strategy, now } = erasure;
  const ownClaims = before.claims.filter((claim) => claim.username === username);
  const ownSharedClaims = (before.sharedClaims ?? []).filter((claim) => claim.username === username);
  const state = eraseFromState(before.state, erasure);
  const isNamed =
    ownClaims.length + ownSharedClaims.length > 0 ||
    [...before.entitledUsers, ...(before.announcedUsers ?? [])].includes(username);
  if (!isNamed && !differs(before.state, state)) return undefined;
  const claims = before.claims.filter((claim) => claim.username !== username);
  const entitledUsers = isNamed ? resolveEntitledUsers(claims, strategy) : before.entitledUsers;
  const after: StoredPurchase = {
    ...replaceClaims(before, { state, claims, entitledUsers }, now),
    ...(before.entitledUsers.length > 0 && entitledUsers.length === 0 && { hasErasedOwner: true }),
  };
  const gainedUsers = entitledUsers.filter((user) => !before.entitledUsers.includes(user));
  const lostUsers = before.entitledUsers.filter((user) => !entitledUsers.includes(user));
  const announcedUsers = [...gainedUsers, ...lostUsers].filter((user) => user !== username);
  return {
    before,
    after,
    lifecycleReasons: [],
    announcedReasons: announcedUsers.length > 0 ? selectOwnershipReasons(state.purchase, announcedUsers, now) : [],
    announcedUsers,
    newClaims: [],
    copiedClaims: [],
    appliedClaims: ownSharedClaims,
    evictedClaims: ownClaims,
    changedTransactions: [],
    removedTransactions: [],
    changedFigures: [],
    gainedUsers,
    lostUsers,
  };
}

function eraseFromState(
  { userAliases, refreshToken, purchase, ...state }: PurchaseState,
  { username, aliases, removesRefreshToken }: UserErasure,
): PurchaseState {
  return {
    ...state,
    purchase: eraseFromConsumption(purchase, username),
    userAliases: userAliases.filter((alias) => !aliases.has(normalizeAlias(alias))),
    ...(refreshToken !== undefined && !removesRefreshToken && { refreshToken }),
  };
}

function eraseFromConsumption(purchase: Purchase, erased: string): Purchase {
  const { serviceConsumption } = purchase;
  if (serviceConsumption?.username !== erased) return purchase;
  const { username: _username, ...consumption } = serviceConsumption;
  return { ...purchase, serviceConsumption: consumption };
}

const differs = (before: PurchaseState, after: PurchaseState): boolean =>
  before.userAliases.length !== after.userAliases.length ||
  before.refreshToken !== after.refreshToken ||
  before.purchase !== after.purchase;
