import type { PriceConsentStatus } from '../../api/enumerations.ts';
import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';

/** What was seen of the purchase when it was looked at because of a notification. */
export interface ObservedFacts {
  readonly isExpired?: boolean;
  /** Whether any of it was ever paid. */
  readonly isPaid?: boolean;
  /** Whether it took the place of a purchase of another product. */
  readonly replacesOther?: boolean;
  readonly priceConsentStatus?: PriceConsentStatus;
}

type Reason = NotificationReason | ((seen: ObservedFacts) => NotificationReason);

const toPriceConsentReason = ({ priceConsentStatus }: ObservedFacts): NotificationReason =>
  priceConsentStatus === 'Agreed' ? 'PRICE_CHANGE_CONFIRMED' : 'PRICE_CHANGE_UPDATED';

/** What Google's notifications say in our words; all others, known and unknown, say nothing of a purchase's life. */
const reasonsByType: Readonly<Record<string, Reason>> = {
  SUBSCRIPTION_RECOVERED: 'RENEWED',
  SUBSCRIPTION_RENEWED: 'RENEWED',
  SUBSCRIPTION_CANCELED: ({ isExpired }) => (isExpired ? 'EXPIRED' : 'WILL_LAPSE'),
  SUBSCRIPTION_PURCHASED: ({ replacesOther }) => (replacesOther ? 'PLAN_CHANGED' : 'PURCHASED'),
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
  // A pending purchase that is given up was never owned.
  ONE_TIME_PRODUCT_CANCELED: ({ isPaid }) => (isPaid ? 'REVOKED' : 'OTHER'),
  VOIDED_PURCHASE: 'REFUNDED',
  TEST: 'TEST',
};

/** The reason that a type of notification gives, together with what was seen; `OTHER` for one that gives none. */
export function toNotificationReason(type: string, seen: ObservedFacts = {}): NotificationReason {
  const reason = Object.hasOwn(reasonsByType, type) ? reasonsByType[type] : undefined;
  return typeof reason === 'function' ? reason(seen) : (reason ?? 'OTHER');
}
