import type { EpochMillis } from '../foundation/time.ts';
import { selectAnnouncedReasons } from './announced-reasons.ts';
import type { Purchase } from './purchase.ts';
import { computeNextRefresh } from './refresh-schedule.ts';
import type { StoredPurchase } from './stored-purchase.ts';

/**
 * Returns the reasons of a change of owner by a manual link: the customers who gain or lose the purchase need an
 * announcement.
 */
export const selectOwnershipReasons = (purchase: Purchase, users: readonly string[], now: EpochMillis) =>
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

/** Returns the next version of a purchase, with other claims and without a new observation of the store. */
export function replaceClaims(
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
    ...(nextRefreshAt !== undefined && { nextRefreshAt }),
    version: before.version + 1,
  };
}
