import { describe, expect, it } from '@jest/globals';
import { type ObservedFacts, toNotificationReason } from '../../../../lib/stores/google-play/notification-reason.ts';
import { parseNotification } from '../../../../lib/stores/google-play/parse-notification.ts';
import { buildPushBody, packageName } from './fake-pubsub.ts';

const getReason = (content: object, facts?: ObservedFacts): string =>
  toNotificationReason(parseNotification(buildPushBody(content), packageName)?.type ?? '', facts);

const createSubscriptionNotification = (notificationType: number) => ({
  subscriptionNotification: { version: '1.0', notificationType, purchaseToken: 'token-1' },
});
const createOneTimeNotification = (notificationType: number) => ({
  oneTimeProductNotification: { version: '1.0', notificationType, purchaseToken: 'token-1', sku: 'coins' },
});
const createVoidedNotification = (refundType: number) => ({
  voidedPurchaseNotification: { purchaseToken: 'token-1', orderId: 'GPA.1', productType: 1, refundType },
});

describe('toNotificationReason (Google Play)', () => {
  it.each<[number, string, ObservedFacts?]>([
    [1, 'RENEWED'],
    [2, 'RENEWED'],
    [3, 'WILL_LAPSE'],
    [3, 'EXPIRED', { isExpired: true }],
    [4, 'PURCHASED'],
    [4, 'PLAN_CHANGED', { isPlanChange: true }],
    [5, 'EXPIRED'],
    [6, 'ENTERED_GRACE_PERIOD'],
    [7, 'WILL_AUTO_RENEW'],
    [8, 'PRICE_CHANGE_CONFIRMED'],
    [9, 'EXTENDED'],
    [10, 'PAUSED'],
    [11, 'OTHER'],
    [12, 'REVOKED'],
    [13, 'EXPIRED'],
    [17, 'PLAN_CHANGED'],
    [18, 'WILL_LAPSE'],
    [19, 'PRICE_CHANGE_UPDATED'],
    [19, 'PRICE_CHANGE_UPDATED', { priceConsentStatus: 'Notified' }],
    [19, 'PRICE_CHANGE_CONFIRMED', { priceConsentStatus: 'Agreed' }],
    [20, 'OTHER'],
    [22, 'PRICE_CHANGE_UPDATED'],
    [22, 'PRICE_CHANGE_CONFIRMED', { priceConsentStatus: 'Agreed' }],
    [0, 'OTHER'],
    [14, 'OTHER'],
    [15, 'OTHER'],
    [16, 'OTHER'],
    [21, 'OTHER'],
    [999, 'OTHER'],
  ])('converts subscription notification %d to %s', (number, reason, facts = {}) => {
    expect(getReason(createSubscriptionNotification(number), facts)).toBe(reason);
  });

  it.each<[number, string, ObservedFacts?]>([
    [1, 'PURCHASED'],
    [2, 'OTHER'],
    [2, 'REVOKED', { isPaid: true }],
    [3, 'OTHER'],
  ])('converts one-time product notification %d to %s', (number, reason, facts = {}) => {
    expect(getReason(createOneTimeNotification(number), facts)).toBe(reason);
  });

  it.each([1, 2])('converts a voided purchase with refundType %d to REFUNDED', (refundType) => {
    expect(getReason(createVoidedNotification(refundType))).toBe('REFUNDED');
  });

  it('converts the voided latest order of a subscription that Google Play ended to REVOKED', () => {
    expect(getReason(createVoidedNotification(1), { isRevoked: true })).toBe('REVOKED');
  });

  it('converts a test notification to TEST', () => {
    expect(getReason({ testNotification: { version: '1.0' } })).toBe('TEST');
  });

  it('converts an unknown notification to OTHER', () => {
    expect(getReason({ somethingNewNotification: {} })).toBe('OTHER');
  });

  it.each(['', 'constructor', 'toString', '__proto__'])('converts the type %j to OTHER', (type) => {
    expect(toNotificationReason(type)).toBe('OTHER');
  });
});
