import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';

/**
 * Notification types with their subtypes. A subtype that is not listed has the reason of its
 * type, a type that is not listed the reason `OTHER`.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
 * @see https://developer.apple.com/documentation/appstoreservernotifications/subtype
 */
const reasonsByType: Readonly<Record<string, NotificationReason>> = {
  SUBSCRIBED: 'PURCHASED',
  'SUBSCRIBED.INITIAL_BUY': 'PURCHASED',
  'SUBSCRIBED.RESUBSCRIBE': 'RENEWED',
  ONE_TIME_CHARGE: 'PURCHASED',
  // Apple sent OFFER_REDEEMED instead of SUBSCRIBED for redeemed offers until 2023.
  'OFFER_REDEEMED.INITIAL_BUY': 'PURCHASED',
  'OFFER_REDEEMED.RESUBSCRIBE': 'RENEWED',
  'OFFER_REDEEMED.UPGRADE': 'PLAN_CHANGED',
  'OFFER_REDEEMED.DOWNGRADE': 'PLAN_CHANGED',
  'DID_CHANGE_RENEWAL_PREF.UPGRADE': 'PLAN_CHANGED',
  'DID_CHANGE_RENEWAL_PREF.DOWNGRADE': 'PLAN_CHANGED',
  DID_CHANGE_RENEWAL_PREF: 'PLAN_CHANGED',
  // Only the seats change, not the plan.
  'DID_CHANGE_RENEWAL_PREF.INCREASE_QUANTITY': 'OTHER',
  'DID_CHANGE_RENEWAL_PREF.DECREASE_QUANTITY': 'OTHER',
  'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED': 'WILL_AUTO_RENEW',
  'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED': 'WILL_LAPSE',
  DID_RENEW: 'RENEWED',
  'DID_FAIL_TO_RENEW.GRACE_PERIOD': 'ENTERED_GRACE_PERIOD',
  DID_FAIL_TO_RENEW: 'EXPIRED',
  GRACE_PERIOD_EXPIRED: 'EXPIRED',
  EXPIRED: 'EXPIRED',
  PRICE_INCREASE: 'PRICE_CHANGE_UPDATED',
  'PRICE_INCREASE.PENDING': 'PRICE_CHANGE_UPDATED',
  'PRICE_INCREASE.ACCEPTED': 'PRICE_CHANGE_CONFIRMED',
  PRICE_CHANGE: 'PRICE_CHANGE_UPDATED',
  REFUND: 'REFUNDED',
  REVOKE: 'REVOKED',
  RENEWAL_EXTENDED: 'EXTENDED',
  TEST: 'TEST',
};

/**
 * Converts a notification type such as `DID_RENEW.BILLING_RECOVERY`. An unknown subtype has the meaning of its type.
 */
export const toNotificationReason = (type: string): NotificationReason =>
  findReason(type) ?? findReason(getBaseType(type)) ?? 'OTHER';

/** Returns the notification type without the subtype. */
export const getBaseType = (type: string): string => type.split('.', 1)[0] ?? type;

const findReason = (type: string): NotificationReason | undefined =>
  Object.hasOwn(reasonsByType, type) ? reasonsByType[type] : undefined;
