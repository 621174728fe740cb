import { describe, expect, it } from '@jest/globals';
import { type ObservedFacts, toNotificationReason } from '../../../../lib/stores/store-b/notification-reason.ts';
import { parseNotification } from '../../../../lib/stores/store-b/parse-notification.ts';
import { packageName, pushBody } from './fake-pubsub.ts';

const reasonOfPush = (content: object, seen?: ObservedFacts): string =>
  toNotificationReason(parseNotification(pushBody(content), packageName).type, seen);

const subscription = (notificationType: number) => ({
  subscriptionNotification: { version: '1.0', notificationType, purchaseToken: 'token-1' },
});
const oneTime = (notificationType: number) => ({
  oneTimeProductNotification: { version: '1.0', notificationType, purchaseToken: 'token-1', sku: 'coins' },
});
const voided = (refundType: number) => ({
  voidedPurchaseNotification: { purchaseToken: 'token-1', orderId: 'GPA.1', productType: 1, refundType },
});

describe('the reason of a notification of store_b', () => {
  it.each<[number, string, ObservedFacts?]>([
    [1, 'RENEWED'],
    [2, 'RENEWED'],
    [3, 'WILL_LAPSE'],
    [3, 'EXPIRED', { isExpired: true }],
    [4, 'PURCHASED'],
    [4, 'PLAN_CHANGED', { replacesOther: true }],
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
  ])('is, for number %d of a subscription, %s', (number, reason, seen = {}) => {
    expect(reasonOfPush(subscription(number), seen)).toBe(reason);
  });

  it.each<[number, string, ObservedFacts?]>([
    [1, 'PURCHASED'],
    [2, 'OTHER'],
    [2, 'REVOKED', { isPaid: true }],
    [3, 'OTHER'],
  ])('is, for number %d of a one-time product, %s', (number, reason, seen = {}) => {
    expect(reasonOfPush(oneTime(number), seen)).toBe(reason);
  });

  it.each([1, 2])('is REFUNDED for money given back in the way %d', (refundType) => {
    expect(reasonOfPush(voided(refundType))).toBe('REFUNDED');
  });

  it('is TEST for a test', () => {
    expect(reasonOfPush({ testNotification: { version: '1.0' } })).toBe('TEST');
  });

  it('is OTHER for what is not known yet', () => {
    expect(reasonOfPush({ somethingNewNotification: {} })).toBe('OTHER');
  });

  it.each(['', 'constructor', 'toString', '__proto__'])('is OTHER for the type %j', (type) => {
    expect(toNotificationReason(type)).toBe('OTHER');
  });
});
