import type { NotificationReason } from '../notifications/reasons.ts';
import { canonical } from './canonical.ts';
import { isExpired, type Millis, type Purchase } from './purchase.ts';

/** What brought a change about: a client, the service's own look at the store, a link by hand, or a store's message. */
export type Cause = 'validation' | 'refresh' | 'link' | 'notification';

interface Changed {
  readonly before: { readonly purchase: Purchase } | undefined;
  readonly after: { readonly purchase: Purchase };
  readonly lifecycle: readonly NotificationReason[];
  /** Users who gained or lost the purchase. */
  readonly moved: number;
  /** Set when the purchase was known, gives access, and has its first owner now: nobody has heard of it yet. */
  readonly isFirstOwned: boolean;
  readonly now: Millis;
}

/**
 * What the application's server is told of a change: each fact of the purchase's life, and that a receipt was validated
 * when that showed anything new. A change that is none of these is told under a word of its cause, so that the server never
 * stays behind; a look that showed nothing new is not told.
 */
export function newsOf({ before, after, moved, ...changed }: Changed, cause: Cause): NotificationReason[] {
  const { lifecycle, isFirstOwned, now } = changed;
  const from = before?.purchase;
  const shows = !from || moved > 0 || canonical(shown(from, now)) !== canonical(shown(after.purchase, now));
  if (!shows && lifecycle.length === 0) return [];
  const life: NotificationReason[] =
    isFirstOwned && !lifecycle.includes('PURCHASED') ? ['PURCHASED', ...lifecycle] : [...lifecycle];
  if (cause === 'validation') return [...life, 'RECEIPT_VALIDATED'];
  // Its successor tells of the change.
  const isReplaced = after.purchase.cancelationReason === 'System.Replaced' && moved === 0;
  if (life.length > 0 || isReplaced) return life;
  return [cause === 'refresh' ? 'RECEIPT_REFRESHED' : 'OTHER'];
}

/**
 * What is worth a call: not what callers never see, a date that a store adds to a known wish, a rate of exchange, or
 * since when exactly an expired purchase has been over.
 */
function shown(purchase: Purchase, now: Millis): object {
  const { renewalIntentChangeDate, renewalProductId, productType, usdRate, usdRateDate, ...visible } = purchase;
  const { expirationDate, endedAt, ...lasting } = visible;
  return isExpired(purchase, now) ? { ...lasting, isExpired: true } : visible;
}
