import type { NotificationReason } from '../notifications/reasons.ts';
import { canonical } from './merge.ts';
import type { Purchase } from './purchase.ts';

/** What brought a change about: a client, the service's own look at the store, a link by hand, or a store's message. */
export type Cause = 'validation' | 'refresh' | 'link' | 'notification';

interface Changed {
  readonly before: { readonly purchase: Purchase } | undefined;
  readonly after: { readonly purchase: Purchase };
  readonly lifecycle: readonly NotificationReason[];
  /** Users who gained or lost the purchase. */
  readonly moved: number;
}

/**
 * What the application's server is told of a change: each fact of the purchase's life, and that a receipt was validated
 * when that showed anything new. A change that is none of these is told under a word of its cause, so that the server never
 * stays behind; a look that showed nothing new is not told.
 */
export function newsOf({ before, after, lifecycle, moved }: Changed, cause: Cause): NotificationReason[] {
  const from = before?.purchase;
  const shows = !from || moved > 0 || canonical(shown(from)) !== canonical(shown(after.purchase));
  if (!shows && lifecycle.length === 0) return [];
  if (cause === 'validation') return [...lifecycle, 'RECEIPT_VALIDATED'];
  // Its successor tells of the change.
  const isReplaced = after.purchase.cancelationReason === 'System.Replaced' && moved === 0;
  if (lifecycle.length > 0 || isReplaced) return [...lifecycle];
  return [cause === 'refresh' ? 'RECEIPT_REFRESHED' : 'OTHER'];
}

/** What the server can see of a purchase. */
const shown = ({ renewalProductId: _internal, productType: _type, ...purchase }: Purchase): object => purchase;
