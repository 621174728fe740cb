import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';

/**
 * Clawback states in which the customer was refunded.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
const reasonsByState: Readonly<Record<string, NotificationReason>> = {
  Revoked: 'REFUNDED',
  Returned: 'REFUNDED',
  Refunded: 'REFUNDED',
};

/** Converts the state of a clawback event to a reason; `OTHER` for a reversed chargeback and for unknown states. */
export const toNotificationReason = (state: string): NotificationReason =>
  Object.hasOwn(reasonsByState, state) ? (reasonsByState[state] ?? 'OTHER') : 'OTHER';

/** The customer lost the product together with the refund, or had consumed it before. */
export const isRevokedState = (state: string): boolean => state === 'Revoked' || state === 'Returned';
