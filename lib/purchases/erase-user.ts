import type { EpochMillis } from '../shared/time.ts';
import { selectAnnouncedReasons } from './announced-reasons.ts';
import { resolveEntitledUsers, type Strategy } from './claims.ts';
import type { PurchaseState } from './merge.ts';
import type { Purchase } from './purchase.ts';
import type { PurchaseChange, StoredPurchase } from './purchase-change.ts';
import { computeNextRefresh } from './refresh-schedule.ts';
import { normalizeAlias } from './user-aliases.ts';

/** The parts of a stored purchase to remove. */
interface UserErasure {
  readonly username: string;
  /** Normalized user aliases. */
  readonly aliases: ReadonlySet<string>;
  /**
   * Whether to remove the refresh token, because it names the user. The store then cannot be queried for the purchase.
   */
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
  const after = buildErasedPurchase(before, { state, claims, entitledUsers }, now);
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
    changedFigures: [],
    gainedUsers,
    lostUsers,
  };
}

/**
 * Returns the reasons of a change of owner by a manual link: the customers who gain the purchase need an announcement.
 */
const selectOwnershipReasons = (purchase: Purchase, users: readonly string[], now: EpochMillis) =>
  selectAnnouncedReasons(
    {
      before: { purchase },
      after: { purchase },
      lifecycleReasons: [],
      ownershipChanges: users.length,
      isFirstEntitlement: false,
      now,
    },
    'link',
  );

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

function buildErasedPurchase(
  stored: StoredPurchase,
  changed: Pick<StoredPurchase, 'state' | 'claims' | 'entitledUsers'>,
  now: EpochMillis,
): StoredPurchase {
  const {
    sharedClaims: _sharedClaims,
    announcedUsers: _announcedUsers,
    nextRefreshAt: scheduledAt,
    ...before
  } = stored;
  const { purchase, refreshToken } = changed.state;
  const nextRefreshAt = computeNextRefresh(purchase, {
    // The time of the last check: see `computePurchaseChange`.
    now: before.checkedAt,
    failedRefreshes: before.failedRefreshes ?? 0,
    hasRefreshToken: refreshToken !== undefined,
    isNotified: before.isNotified,
    scheduledAt,
  });
  return {
    ...before,
    ...changed,
    updatedAt: Math.max(now, before.updatedAt + 1),
    ...(before.entitledUsers.length > 0 && changed.entitledUsers.length === 0 && { hasErasedOwner: true }),
    ...(nextRefreshAt !== undefined && { nextRefreshAt }),
    version: before.version + 1,
  };
}
