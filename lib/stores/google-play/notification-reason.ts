import type { PriceConsentStatus } from '../../api/schemas.ts';
import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';

/** Facts about the purchase that was queried for a notification. */
export interface ObservedFacts {
  readonly isExpired?: boolean;
  /** Google Play ended the purchase whose latest order was voided, without a request of the customer. */
  readonly isRevoked?: boolean;
  readonly isPaid?: boolean;
  /** It replaced a purchase with another product, base plan or offer. */
  readonly isPlanChange?: boolean;
  readonly priceConsentStatus?: PriceConsentStatus;
}

type Reason = NotificationReason | ((facts: ObservedFacts) => NotificationReason);

const toPriceConsentReason = ({ priceConsentStatus }: ObservedFacts): NotificationReason =>
  priceConsentStatus === 'Agreed' ? 'PRICE_CHANGE_CONFIRMED' : 'PRICE_CHANGE_UPDATED';

/**
 * Reasons by notification type. Types without a row do not change the lifecycle of a purchase.
 * @see https://developer.android.com/google/play/billing/rtdn-reference
 */
const reasonsByType: Readonly<Record<string, Reason>> = {
  SUBSCRIPTION_RECOVERED: 'RENEWED',
  SUBSCRIPTION_RENEWED: 'RENEWED',
  SUBSCRIPTION_CANCELED: ({ isExpired }) => (isExpired ? 'EXPIRED' : 'WILL_LAPSE'),
  SUBSCRIPTION_PURCHASED: ({ isPlanChange }) => (isPlanChange ? 'PLAN_CHANGED' : 'PURCHASED'),
  SUBSCRIPTION_ON_HOLD: 'EXPIRED',
  SUBSCRIPTION_IN_GRACE_PERIOD: 'ENTERED_GRACE_PERIOD',
  SUBSCRIPTION_RESTARTED: 'WILL_AUTO_RENEW',
  SUBSCRIPTION_PRICE_CHANGE_CONFIRMED: 'PRICE_CHANGE_CONFIRMED',
  SUBSCRIPTION_DEFERRED: 'EXTENDED',
  SUBSCRIPTION_PAUSED: 'PAUSED',
  SUBSCRIPTION_REVOKED: 'REVOKED',
  SUBSCRIPTION_EXPIRED: 'EXPIRED',
  SUBSCRIPTION_ITEMS_CHANGED: 'PLAN_CHANGED',
  SUBSCRIPTION_CANCELLATION_SCHEDULED: 'WILL_LAPSE',
  SUBSCRIPTION_PRICE_CHANGE_UPDATED: toPriceConsentReason,
  SUBSCRIPTION_PRICE_STEP_UP_CONSENT_UPDATED: toPriceConsentReason,
  ONE_TIME_PRODUCT_PURCHASED: 'PURCHASED',
  // A canceled pending purchase was never owned.
  ONE_TIME_PRODUCT_CANCELED: ({ isPaid }) => (isPaid ? 'REVOKED' : 'OTHER'),
  // A revocation sends SUBSCRIPTION_REVOKED, SUBSCRIPTION_EXPIRED and this type in any order.
  VOIDED_PURCHASE: ({ isRevoked }) => (isRevoked ? 'REVOKED' : 'REFUNDED'),
  TEST: 'TEST',
};

/** Converts a notification type and the queried facts to a reason; `OTHER` for a type without a row. */
export function toNotificationReason(type: string, facts: ObservedFacts = {}): NotificationReason {
  const reason = Object.hasOwn(reasonsByType, type) ? reasonsByType[type] : undefined;
  return typeof reason === 'function' ? reason(facts) : (reason ?? 'OTHER');
}
