import { toCanonicalJson } from '../foundation/canonical-json.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { NotificationReason } from './lifecycle-reasons.ts';
import { isExpired, isUnpaid, type Purchase } from './purchase.ts';

/**
 * Cause of an update: a client's validation, a scheduled refresh, a manual link, a store notification, or an import
 * without webhooks.
 */
export type UpdateTrigger = 'validation' | 'refresh' | 'link' | 'notification' | 'import';

interface AnnounceableChange {
  readonly before: { readonly purchase: Purchase } | undefined;
  readonly after: { readonly purchase: Purchase };
  readonly lifecycleReasons: readonly NotificationReason[];
  /** Number of users who gained or lost the purchase. */
  readonly ownershipChanges: number;
  /** A stored, active purchase gains its first user. Earlier announcements lacked a recipient. */
  readonly isFirstEntitlement: boolean;
  readonly now: EpochMillis;
}

/**
 * Selects the reasons that are announced to the app's server: all lifecycle reasons, and `RECEIPT_VALIDATED` if a
 * validation had a visible effect. Any other visible change has a generic reason, so that the server is never stale.
 * Returns no reason for an update without visible effect, and for a purchase that was never paid. An import announces
 * lifecycle reasons only.
 */
export function selectAnnouncedReasons(
  { before, after, lifecycleReasons, ownershipChanges, isFirstEntitlement, now }: AnnounceableChange,
  trigger: UpdateTrigger,
): NotificationReason[] {
  if (isUnpaid(after.purchase) && (!before || isUnpaid(before.purchase))) return [];
  const isVisible = !before || ownershipChanges > 0 || isVisibleChange(before.purchase, after.purchase, now);
  if ((!isVisible || trigger === 'import') && lifecycleReasons.length === 0) return [];
  if (trigger === 'import') return [...lifecycleReasons];
  const reasons: NotificationReason[] =
    isFirstEntitlement && !lifecycleReasons.includes('PURCHASED')
      ? ['PURCHASED', ...lifecycleReasons]
      : [...lifecycleReasons];
  if (trigger === 'validation') return [...reasons, 'RECEIPT_VALIDATED'];
  // The purchase that replaces this one announces the change.
  const isReplaced = after.purchase.cancelationReason === 'System.Replaced' && ownershipChanges === 0;
  if (reasons.length > 0 || isReplaced) return reasons;
  return [trigger === 'refresh' ? 'RECEIPT_REFRESHED' : 'OTHER'];
}

/** The change is announced to all users of the purchase. */
export const isVisibleChange = (before: Purchase, after: Purchase, now: EpochMillis): boolean =>
  toCanonicalJson(toAnnouncedView(before, now)) !== toCanonicalJson(toAnnouncedView(after, now));

/**
 * Returns the fields whose change is announced. Left out are internal fields, exchange rates, the date of a change of
 * the renewal intent, the end date of an expired purchase, and the cancelation reason of a purchase that gives access.
 */
function toAnnouncedView(purchase: Purchase, now: EpochMillis): object {
  const {
    renewalIntentChangeDate,
    renewalIntentDates,
    renewalProductId,
    productType,
    usdRate,
    usdRateDate,
    serviceConsumption,
    awaitsFulfillment,
    expirationSource,
    unverifiedUntil,
    isCommitted,
    beforeClawback,
    ...visible
  } = purchase;
  const { expirationDate, endedAt, ...permanent } = visible;
  if (isExpired(purchase, now)) return { ...permanent, isExpired: true };
  const { cancelationReason, ...active } = visible;
  return active;
}
