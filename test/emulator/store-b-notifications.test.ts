import { beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { OutgoingNotification } from '../../emulator/outgoing-notification.ts';
import { storeB } from '../../emulator/store-b/store-b.ts';
import { type NotifyingStore, openNotifyingStore } from './notifying-store.ts';
import { dayMs, type Step } from './random-histories.ts';

let unsold: unknown;
let store: NotifyingStore;
beforeAll(async () => {
  unsold = (await openNotifyingStore(storeB)).toSavedState();
});
beforeEach(async () => {
  store = await openNotifyingStore(storeB, unsold);
});

const plan = { productId: 'monthly', type: 'paid subscription' } as const;

/** The notification inside of a pushed message. */
const noticeIn = ({ body }: OutgoingNotification) =>
  JSON.parse(Buffer.from(JSON.parse(body).message.data, 'base64').toString('utf8'));

/** What a notification is of: its number, or the word for one without. */
function kindOf(outgoing: OutgoingNotification): string | number {
  const { subscriptionNotification, oneTimeProductNotification, voidedPurchaseNotification } = noticeIn(outgoing);
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

describe('a pushed message', () => {
  it('is wrapped as Pub/Sub wraps it', () => {
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
    expect(outgoing && noticeIn(outgoing)).toEqual({
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

  it('carries a token of the push service account, signed with a published key and made anew for each attempt', async () => {
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

  it('is redelivered more and more seldom for seven days, until it is acknowledged', () => {
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

describe('a subscription', () => {
  test.each<[string, readonly Step[], readonly (string | number)[]]>([
    ['renews', [['renew']], [2]],
    ['is cancelled', [['cancel']], [3]],
    ['is restarted', [['cancel'], ['uncancel']], [7]],
    ['lapses', [['cancel'], 'P1M'], [13]],
    ['enters its grace period', [['fail-payment']], [6]],
    ['recovers in grace', [['fail-payment'], ['recover']], [2]],
    ['is put on hold', [['fail-payment', { grace: false }]], [5]],
    ['recovers from hold', [['fail-payment', { grace: false }], ['recover']], [1]],
    ['is lost in hold', [['fail-payment', { grace: false }], 'P30D'], [3, 13]],
    ['expires', [['expire']], [13]],
    ['is refunded and goes on', [['refund']], []],
    ['is revoked', [['revoke']], [12, 'voided', 13]],
    ['is paused', [['pause']], [11, 10]],
    ['is resumed', [['pause'], ['resume']], [1]],
    ['is told of a price', [['raise-price']], [19]],
    ['accepts a price', [['raise-price'], ['accept-price']], [19]],
    ['changes to another plan', [['change-plan', { productId: 'other' }]], [4, 13]],
    ['is tried with', [['test-notification']], ['test']],
  ])('%s', (_what, steps, kinds) => {
    expect(store.runSteps(store.placeOrder(plan), steps).map(kindOf)).toEqual(kinds);
  });

  it('that is revoked names the order that is void', () => {
    const id = store.placeOrder(plan);
    const voided = store.runSteps(id, [['renew'], ['revoke']]).find((outgoing) => kindOf(outgoing) === 'voided');
    expect(voided && noticeIn(voided).voidedPurchaseNotification).toEqual({
      purchaseToken: id,
      orderId: expect.stringMatching(/^GPA\..*\.\.0$/),
      productType: 1,
      refundType: 1,
    });
  });
});

describe('a one-time purchase', () => {
  it('is bought and refunded', () => {
    const id = store.placeOrder({ productId: 'coins', type: 'consumable' });
    const [bought] = store.takePosted();
    expect(bought && noticeIn(bought).oneTimeProductNotification).toEqual({
      version: '1.0',
      notificationType: 1,
      purchaseToken: id,
      sku: 'coins',
    });
    const [voided] = store.runSteps(id, [['refund']]);
    expect(voided && noticeIn(voided).voidedPurchaseNotification).toMatchObject({ purchaseToken: id, productType: 2 });
  });
});
