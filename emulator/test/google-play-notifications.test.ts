import { beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { dayMs } from '../calendar.ts';
import { googlePlay } from '../google-play/google-play.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { type NotifyingStore, openNotifyingStore } from './notifying-store.ts';
import type { Step } from './random-histories.ts';

let unsold: unknown;
let store: NotifyingStore;
beforeAll(async () => {
  unsold = (await openNotifyingStore(googlePlay)).toSavedState();
});
beforeEach(async () => {
  store = await openNotifyingStore(googlePlay, unsold);
});

const plan = { productId: 'monthly', type: 'paid subscription', acknowledged: true } as const;

/** Decodes the notification of a push request. */
const decodeNotification = ({ body }: OutgoingNotification) =>
  JSON.parse(Buffer.from(JSON.parse(body).message.data, 'base64').toString('utf8'));

/** Returns the number of a notification, or its name if it does not have a number. */
function getType(outgoing: OutgoingNotification): string | number {
  const { subscriptionNotification, oneTimeProductNotification, voidedPurchaseNotification } =
    decodeNotification(outgoing);
  if (subscriptionNotification) return subscriptionNotification.notificationType;
  if (oneTimeProductNotification) return `once ${oneTimeProductNotification.notificationType}`;
  return voidedPurchaseNotification ? 'voided' : 'test';
}

const publishedKeys = () =>
  JSON.parse(
    store.handleCall({
      method: 'GET',
      host: 'www.googleapis.com',
      path: '/oauth2/v3/certs',
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.alloc(0),
    }).body,
  );

describe('push request of Google Play', () => {
  it('wraps the notification in a Pub/Sub message', () => {
    const id = store.placeOrder(plan);
    const [outgoing] = store.takePosted();
    const { message, subscription } = JSON.parse(outgoing?.body ?? '');
    expect(subscription).toMatch(/^projects\/[\w-]+\/subscriptions\/[\w-]+$/);
    const publishTime = new Date(store.now()).toISOString();
    expect(message).toEqual({
      data: expect.any(String),
      messageId: expect.stringMatching(/^\d{15,}$/),
      message_id: message.messageId,
      publishTime,
      publish_time: publishTime,
    });
    expect(outgoing && decodeNotification(outgoing)).toEqual({
      version: '1.0',
      packageName: 'com.example.app',
      eventTimeMillis: String(store.now()),
      subscriptionNotification: {
        version: '1.0',
        notificationType: 4,
        purchaseToken: id,
        subscriptionId: 'monthly',
      },
    });
  });

  it('carries a new token of the push service account for each attempt, signed with a published key', async () => {
    store.placeOrder({ ...plan, applicationUsername: 'token' });
    const [outgoing] = store.takePosted();
    const { pushAudience, pushServiceAccount } = store.settings;
    for (const sentAt of [store.now(), store.now() + dayMs]) {
      const [scheme, token = ''] = (outgoing?.buildHeaders(sentAt).authorization ?? '').split(' ');
      const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(publishedKeys()), {
        algorithms: ['RS256'],
        issuer: 'https://accounts.google.com',
        audience: String(pushAudience),
        currentDate: new Date(sentAt),
      });
      expect(scheme).toBe('Bearer');
      expect(protectedHeader.kid).toBe(publishedKeys().keys[0].kid);
      expect(payload).toMatchObject({ email: pushServiceAccount, email_verified: true, iat: sentAt / 1000 });
      expect(payload.exp).toBe(sentAt / 1000 + 3600);
    }
  });

  it('retries with backoff for 7 days until the message is acknowledged', () => {
    store.placeOrder({ ...plan, applicationUsername: 'late' });
    const [outgoing] = store.takePosted();
    const delays = outgoing?.retryDelaysMs ?? [];
    expect(delays.slice(0, 8)).toEqual([10, 20, 40, 80, 160, 320, 600, 600].map((seconds) => seconds * 1000));
    const total = delays.reduce((sum, delay) => sum + delay, 0);
    expect(total).toBeLessThanOrEqual(7 * dayMs);
    expect(total).toBeGreaterThan(7 * dayMs - 600_000);
    const responses = [102, 200, 201, 202, 203, 204, 301, 400, 404, 429, 500, 503];
    expect(responses.filter((status) => outgoing?.isDelivered(status))).toEqual([102, 200, 201, 202, 204]);
  });
});

describe('subscription notification of Google Play', () => {
  test.each<[string, readonly Step[], readonly (string | number)[]]>([
    ['a renewal', [['renew']], [2]],
    ['a cancellation', [['cancel']], [3]],
    ['a restart', [['cancel'], ['uncancel']], [7]],
    ['an expiration after a cancellation', [['cancel'], 'P1M'], [13]],
    ['a failed payment', [['fail-payment']], [6]],
    ['a recovery in the grace period', [['fail-payment'], ['recover']], [2]],
    ['account hold', [['fail-payment', { grace: false }]], [5]],
    ['a recovery from hold', [['fail-payment', { grace: false }], ['recover']], [1]],
    ['the end of account hold', [['fail-payment', { grace: false }], 'P30D'], [3, 13]],
    ['an expiration', [['expire']], [13]],
    ['a refund without revocation', [['refund']], []],
    ['a revocation', [['revoke']], [12, 'voided', 13]],
    ['a pause', [['pause']], [11, 10]],
    ['the end of a pause', [['pause'], ['resume']], [1]],
    ['a price change', [['raise-price']], [19]],
    ['an accepted price change', [['raise-price'], ['accept-price']], [19]],
    ['a plan change', [['change-plan', { productId: 'other' }]], [4, 13]],
    ['a test', [['test-notification']], ['test']],
  ])('carries the documented type for %s', (_what, steps, types) => {
    expect(store.runSteps(store.placeOrder(plan), steps).map(getType)).toEqual(types);
  });

  it('references the voided order after a revocation', () => {
    const id = store.placeOrder(plan);
    const voided = store.runSteps(id, [['renew'], ['revoke']]).find((outgoing) => getType(outgoing) === 'voided');
    expect(voided && decodeNotification(voided).voidedPurchaseNotification).toEqual({
      purchaseToken: id,
      orderId: expect.stringMatching(/^GPA\..*\.\.0$/),
      productType: 1,
      refundType: 1,
    });
  });
});

describe('one-time purchase notification of Google Play', () => {
  it('reports a purchase and its refund', () => {
    const id = store.placeOrder({ productId: 'coins', type: 'consumable' });
    const [purchased] = store.takePosted();
    expect(purchased && decodeNotification(purchased).oneTimeProductNotification).toEqual({
      version: '1.0',
      notificationType: 1,
      purchaseToken: id,
      sku: 'coins',
    });
    const [voided] = store.runSteps(id, [['refund']]);
    expect(voided && decodeNotification(voided).voidedPurchaseNotification).toMatchObject({
      purchaseToken: id,
      productType: 2,
    });
  });
});
