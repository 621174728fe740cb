import { describe, expect, it } from '@jest/globals';
import { searchEvents } from '../../lib/events/contract.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { hourMs } from '../../lib/foundation/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { listReasons, startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

type NotificationCase = readonly [Platform, actions: string, reasons: readonly string[], fields: object];

const cases: readonly NotificationCase[] = [
  ['store_a', 'renew', ['RENEWED'], { isExpired: false }],
  ['store_a', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse', isExpired: false }],
  ['store_a', 'cancel uncancel', ['WILL_LAPSE', 'WILL_AUTO_RENEW'], { renewalIntent: 'Renew' }],
  ['store_a', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['store_a', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], { isBillingRetryPeriod: false }],
  ['store_a', 'expire', ['EXPIRED'], { isExpired: true }],
  ['store_a', 'refund', ['REFUNDED'], { isExpired: true }],
  ['store_a', 'revoke', ['REVOKED'], { isExpired: true }],
  ['store_a', 'extend', ['EXTENDED'], { isExpired: false }],
  ['store_a', 'raise-price', ['PRICE_CHANGE_UPDATED'], { priceConsentStatus: 'Notified' }],
  ['store_a', 'raise-price accept-price', ['PRICE_CHANGE_UPDATED', 'PRICE_CHANGE_CONFIRMED'], {}],
  ['store_b', 'renew', ['RENEWED'], { isExpired: false }],
  ['store_b', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse', isExpired: false }],
  ['store_b', 'cancel uncancel', ['WILL_LAPSE', 'WILL_AUTO_RENEW'], { renewalIntent: 'Renew' }],
  ['store_b', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['store_b', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  ['store_b', 'expire', ['EXPIRED'], { isExpired: true }],
  // Google does not push a refund without revocation. The next refresh finds it in the order.
  ['store_b', 'refund', [], { isExpired: false }],
  // Google sends three notifications for a revocation, in any order.
  ['store_b', 'revoke', ['REVOKED'], { isExpired: true }],
  ['store_b', 'pause', ['PAUSED'], { isPaused: true, isExpired: true, cancelationReason: 'PAUSED' }],
  ['store_b', 'pause resume', ['PAUSED', 'RENEWED'], { isExpired: false }],
  ['processor_a', 'renew', ['RENEWED'], { isExpired: false }],
  ['processor_a', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse', isExpired: false }],
  ['processor_a', 'cancel uncancel', ['WILL_LAPSE', 'WILL_AUTO_RENEW'], { renewalIntent: 'Renew' }],
  ['processor_a', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['processor_a', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  // An early renewal has the date of its period, so the later payment belongs to the following period.
  ['processor_a', 'renew fail-payment recover', ['RENEWED', 'ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  ['processor_a', 'expire', ['EXPIRED'], { isExpired: true }],
  ['processor_a', 'pause', ['PAUSED'], { isPaused: true }],
  ['processor_a', 'pause resume', ['PAUSED', 'RENEWED'], { isExpired: false }],
  ['processor_a', 'pause-collection', [], { isExpired: false, renewalIntent: 'Renew' }],
  ['processor_a', 'pause-collection renew resume-collection', [], { isExpired: false, renewalIntent: 'Renew' }],
  // The first period after the pause is the first renewal that is paid.
  ['processor_a', 'pause-collection renew resume-collection renew', ['RENEWED'], { isExpired: false }],
  ['processor_a', 'refund', ['REFUNDED'], { isExpired: true }],
  ['processor_a', 'refund reverse-refund', ['REFUNDED', 'RENEWED'], { isExpired: false }],
  ['processor_a', 'refund-outside', ['REFUNDED'], { isExpired: true }],
  ['processor_a', 'revoke', ['REVOKED'], { isExpired: true }],
  ['processor_a', 'dispute', [], { isExpired: false }],
  ['processor_a', 'dispute win-dispute', [], { isExpired: false }],
  ['processor_a', 'revoke win-dispute', ['REVOKED', 'RENEWED'], { isExpired: false }],
  ['service_processor_a', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse' }],
  ['processor_b', 'renew', ['RENEWED'], { isExpired: false }],
  ['processor_b', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse' }],
  ['processor_b', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['processor_b', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  ['processor_b', 'expire', ['EXPIRED'], { isExpired: true }],
  ['processor_b', 'revoke', ['REVOKED'], { isExpired: true }],
];

describe('store notifications', () => {
  it('dates a reverted cancelation of Stripe, and a repeated cancelation', async () => {
    const { act } = await fixture.givenSubscription('processor_a');
    const dates: number[] = [];
    for (const action of ['cancel', 'uncancel', 'cancel']) {
      await fixture.callControl('/clock', { advance: 'PT1H' });
      dates.push(Date.parse((await act(action)).renewalIntentChangeDate));
    }
    const [canceled = 0, reverted = 0, repeated = 0] = dates;
    expect(reverted - canceled).toBeGreaterThanOrEqual(hourMs);
    expect(repeated - reverted).toBeGreaterThanOrEqual(hourMs);
  });

  it.each(sampleItems(cases, 15))(
    'records the actions of %s "%s" as %j',
    async (platform, actions, reasons, fields) => {
      const { act } = await fixture.givenSubscription(platform);
      let purchase: Awaited<ReturnType<typeof act>>;
      for (const action of actions.split(' ')) purchase = await act(action);
      expect(listReasons(purchase).filter((reason) => reason !== 'PURCHASED')).toEqual(reasons);
      expect(purchase).toMatchObject(fields);
    },
  );

  it('records a purchase of Braintree that the app does not have, or not yet', async () => {
    const { act, purchaseId } = await fixture.givenSubscription('processor_b');
    const otherKeys = await fixture.createNotifiedApp('processor_b');
    await act('cancel');
    const { body } = await callWithSecretKey(searchEvents, otherKeys, { params: { tag: purchaseId } });
    expect(body.rows).toMatchObject([
      { type: '_P', context: { eventType: 'webhook.processor_b.called' }, content: { purchases: [] } },
    ]);
  });
});
