import type { EpochMillis } from '../shared/time.ts';
import { toCanonicalJson } from './canonical-json.ts';
import type { NotificationReason } from './lifecycle-reasons.ts';
import { isExpired, type Purchase } from './purchase.ts';

/** What brought a change about: a client, the service's own look at the store, a link by hand, or a store's message. */
export type UpdateTrigger = 'validation' | 'refresh' | 'link' | 'notification';

interface AnnounceableChange {
  readonly before: { readonly purchase: Purchase } | undefined;
  readonly after: { readonly purchase: Purchase };
  readonly lifecycleReasons: readonly NotificationReason[];
  /** Users who gained or lost the purchase. */
  readonly ownershipChanges: number;
  /** Set when the purchase was known, gives access, and has its first owner now: nobody has heard of it yet. */
  readonly isFirstEntitlement: boolean;
  readonly now: EpochMillis;
}

/**
 * What the application's server is told of a change: each fact of the purchase's life, and that a receipt was validated
 * when that showed anything new. A change that is none of these is told under a word of its cause, so that the server never
 * stays behind; a look that showed nothing new is not told.
 */
export function selectAnnouncedReasons(
  { before, after, ownershipChanges, ...changed }: AnnounceableChange,
  cause: UpdateTrigger,
): NotificationReason[] {
  const { lifecycleReasons, isFirstEntitlement, now } = changed;
  const from = before?.purchase;
  const isVisible =
    !from ||
    ownershipChanges > 0 ||
    toCanonicalJson(toAnnouncedView(from, now)) !== toCanonicalJson(toAnnouncedView(after.purchase, now));
  if (!isVisible && lifecycleReasons.length === 0) return [];
  const reasons: NotificationReason[] =
    isFirstEntitlement && !lifecycleReasons.includes('PURCHASED')
      ? ['PURCHASED', ...lifecycleReasons]
      : [...lifecycleReasons];
  if (cause === 'validation') return [...reasons, 'RECEIPT_VALIDATED'];
  // Its successor tells of the change.
  const isReplaced = after.purchase.cancelationReason === 'System.Replaced' && ownershipChanges === 0;
  if (reasons.length > 0 || isReplaced) return reasons;
  return [cause === 'refresh' ? 'RECEIPT_REFRESHED' : 'OTHER'];
}

/**
 * What is worth a call: not what callers never see, a date that a store adds to a known wish, a rate of exchange, or
 * since when exactly an expired purchase has been over.
 */
function toAnnouncedView(purchase: Purchase, now: EpochMillis): object {
  const { renewalIntentChangeDate, renewalProductId, productType, usdRate, usdRateDate, ...visible } = purchase;
  const { expirationDate, endedAt, ...lasting } = visible;
  return isExpired(purchase, now) ? { ...lasting, isExpired: true } : visible;
}
