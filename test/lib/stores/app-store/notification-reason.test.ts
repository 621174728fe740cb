import { NotificationTypeV2, Subtype } from '@apple/app-store-server-library';
import { describe, expect, it } from '@jest/globals';
import { toNotificationReason } from '../../../../lib/stores/app-store/notification-reason.ts';

const types = `
  SUBSCRIBED.INITIAL_BUY PURCHASED
  SUBSCRIBED.RESUBSCRIBE RENEWED
  ONE_TIME_CHARGE PURCHASED
  OFFER_REDEEMED OTHER
  OFFER_REDEEMED.INITIAL_BUY PURCHASED
  OFFER_REDEEMED.RESUBSCRIBE RENEWED
  OFFER_REDEEMED.UPGRADE PLAN_CHANGED
  OFFER_REDEEMED.DOWNGRADE PLAN_CHANGED
  DID_CHANGE_RENEWAL_PREF.UPGRADE PLAN_CHANGED
  DID_CHANGE_RENEWAL_PREF.DOWNGRADE PLAN_CHANGED
  DID_CHANGE_RENEWAL_PREF PLAN_CHANGED
  DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED WILL_AUTO_RENEW
  DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED WILL_LAPSE
  DID_RENEW RENEWED
  DID_RENEW.BILLING_RECOVERY RENEWED
  DID_FAIL_TO_RENEW.GRACE_PERIOD ENTERED_GRACE_PERIOD
  DID_FAIL_TO_RENEW EXPIRED
  GRACE_PERIOD_EXPIRED EXPIRED
  EXPIRED.VOLUNTARY EXPIRED
  EXPIRED.BILLING_RETRY EXPIRED
  EXPIRED.PRICE_INCREASE EXPIRED
  EXPIRED.PRODUCT_NOT_FOR_SALE EXPIRED
  EXPIRED EXPIRED
  PRICE_INCREASE.PENDING PRICE_CHANGE_UPDATED
  PRICE_INCREASE.ACCEPTED PRICE_CHANGE_CONFIRMED
  PRICE_CHANGE PRICE_CHANGE_UPDATED
  REFUND REFUNDED
  REFUND_DECLINED OTHER
  CONSUMPTION_REQUEST OTHER
  REFUND_REVERSED OTHER
  REVOKE REVOKED
  RENEWAL_EXTENDED EXTENDED
  RENEWAL_EXTENSION.SUMMARY OTHER
  RENEWAL_EXTENSION.FAILURE OTHER
  EXTERNAL_PURCHASE_TOKEN.UNREPORTED OTHER
  EXTERNAL_PURCHASE_TOKEN.CREATED OTHER
  EXTERNAL_PURCHASE_TOKEN.ACTIVE_TOKEN_REMINDER OTHER
  RESCIND_CONSENT OTHER
  METADATA_UPDATE OTHER
  MIGRATION OTHER
  TEST TEST
`;

const rows = types
  .trim()
  .split('\n')
  .map((row) => row.trim().split(' ') as [string, string]);

describe('toNotificationReason (App Store)', () => {
  it.each(rows)('converts %s to %s', (type, reason) => {
    expect(toNotificationReason(type)).toBe(reason);
  });

  it.each([
    ['DID_RENEW.SOMETHING_NEW', 'RENEWED'],
    ['EXPIRED.SOMETHING_NEW', 'EXPIRED'],
    ['SUBSCRIBED.SOMETHING_NEW', 'PURCHASED'],
    ['REFUND.SEATS', 'REFUNDED'],
    ['DID_CHANGE_RENEWAL_PREF.INCREASE_QUANTITY', 'OTHER'],
    ['DID_CHANGE_RENEWAL_STATUS.SOMETHING_NEW', 'OTHER'],
  ])('converts %s, whose subtype can be unknown, to the meaning of its type', (type, reason) => {
    expect(toNotificationReason(type)).toBe(reason);
  });

  it.each(['', 'SOMETHING_NEW', 'SOMETHING_NEW.DID_RENEW', 'constructor', 'toString'])(
    'converts the unknown type %j to OTHER',
    (type) => {
      expect(toNotificationReason(type)).toBe('OTHER');
    },
  );

  it("covers every type and subtype of Apple's library", () => {
    const covered = new Set(rows.flatMap(([type]) => type.split('.')));
    const expected = [...Object.values(NotificationTypeV2), ...Object.values(Subtype)];
    expect(expected.filter((name) => !covered.has(name))).toEqual([]);
  });
});
