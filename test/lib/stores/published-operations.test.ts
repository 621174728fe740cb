import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { actOnPurchase } from '../../../lib/actions/contract.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import type { Platform } from '../../../lib/foundation/platform.ts';
import { diagnoseStoreSettings } from '../../../lib/health/diagnose-store-settings.ts';
import { refreshPurchase } from '../../../lib/refresh/refresh-purchase.ts';
import { answerRefundRequest, listRefundRequests } from '../../../lib/refunds/contract.ts';
import { recoverUndelivered } from '../../../lib/store-notifications/recover-notifications.ts';
import type { HttpServer } from '../../../local/http-server.ts';
import { callWithSecretKey } from '../../../testing/call.ts';
import { interceptStores, type StoreCall } from '../../../testing/intercept-stores.ts';
import { type NotificationRouter, startNotificationRouter } from '../../../testing/notification-router.ts';
import {
  findRequestProblem,
  listAppStoreOperations,
  listGooglePlayOperations,
  listStripeOperations,
} from '../../../testing/published-operations.ts';
import { buyForActions } from '../../../testing/purchase-actions.ts';
import { buyCoins, refundPlatforms, requestRefund } from '../../../testing/refund-requests.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';

let service: TestService;
let router: NotificationRouter;
let server: HttpServer;
const sent: StoreCall[] = [];
beforeAll(async () => {
  service = await startTestService();
  server = await interceptStores(service, (call) => {
    sent.push(call);
    return undefined;
  });
  router = await startNotificationRouter(service, refundPlatforms);
});
afterAll(async () => {
  await router.close();
  await server.close();
  await service.close();
});

const stores = [
  [
    'store_a',
    {
      listOperations: listAppStoreOperations,
      host: /storekit/,
      changes: ['renew', 'cancel', 'refund'],
      actions: [
        ['extend', { days: 7 }],
        ['set-account', { account: 'ann' }],
        ['finish', {}],
      ],
    },
  ],
  [
    'store_b',
    {
      listOperations: listGooglePlayOperations,
      host: /^androidpublisher\./,
      changes: ['renew', 'cancel', 'revoke'],
      actions: [
        ['refund', {}],
        ['cancel', {}],
        ['revoke', {}],
        ['extend', { days: 7 }],
      ],
    },
  ],
  [
    'processor_a',
    {
      listOperations: listStripeOperations,
      host: /^api\.stripe\.com$/,
      changes: ['renew', 'cancel', 'refund'],
      actions: [
        ['refund', {}],
        ['cancel', {}],
        ['extend', { days: 7 }],
      ],
    },
  ],
] as const;

/** Sends the requests of a validation, refreshes, checks of the settings and searches for lost notifications. */
async function sendRequests(platform: Platform, changes: readonly string[]): Promise<void> {
  const settings = platform === 'store_b' ? { acknowledge: true } : {};
  const keys = await service.createApp([platform], settings);
  const order = { platform, productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body).toMatchObject({ ok: true });
  for (const action of changes) {
    await service.callControl(`/purchases/${encodeURIComponent(id)}/${action}`, {});
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId: `${platform}:${id}` });
  }
  await diagnoseStoreSettings(getService(), keys.appName, {
    platform,
    recorder: { addExternalCall: () => {} },
  });
  await recoverUndelivered(getService(), [await getApp(getService(), keys.appName)], () => Number.POSITIVE_INFINITY);
}

const idempotencyKey = 'attempt-1';

/** Sends the requests of all actions on purchases of the platform. */
async function sendActions(platform: Platform, actions: readonly (readonly [action: string, details: object])[]) {
  for (const [action, details] of actions) {
    const bought = await buyForActions(service, platform);
    expect(await bought.act({ action, ...details, idempotencyKey })).toMatchObject({ status: 200 });
  }
}

/** Google Play sets the account of a resubscription in the Play Store only. */
async function setAccountOfResubscription(): Promise<void> {
  const bought = await buyForActions(service, 'store_b');
  await bought.control('expire');
  const { id, validate } = await service.callControl(`/purchases/${bought.id}/resubscribe`, {});
  await service.validate(bought.keys, validate);
  const params = { purchaseId: `store_b:${id}` };
  const body = { action: 'set-account', account: 'ann', reason: 'Ticket 4711', idempotencyKey };
  expect(await callWithSecretKey(actOnPurchase, bought.keys, { params, body })).toMatchObject({ status: 200 });
}

/** Sends the statement about a refund request. */
async function sendStatement(platform: Platform): Promise<void> {
  const keys = await service.createApp([platform]);
  router.routeTo([keys.appName]);
  const id = await buyCoins(service, keys, { platform, applicationUsername: 'ann' });
  await requestRefund({ service, router, keys }, id);
  const { body } = await callWithSecretKey(listRefundRequests, keys, { query: { state: 'open' } });
  const params = { id: body.rows[0].id };
  const answer = { preference: 'decline', customerConsented: true };
  expect(await callWithSecretKey(answerRefundRequest, keys, { params, body: answer })).toMatchObject({ status: 200 });
}

describe('Requests to the stores', () => {
  it.each(stores)(
    'sends only operations of the published API to %s',
    async (platform, { listOperations, host, changes, actions }) => {
      sent.length = 0;
      await sendRequests(platform, changes);
      await sendActions(platform, actions);
      if (platform !== 'processor_a') await sendStatement(platform);
      if (platform === 'store_b') await setAccountOfResubscription();
      const requests = sent.filter(({ url }) => host.test(url.host));
      expect(requests.length).toBeGreaterThan(3);
      const operations = listOperations();
      expect(operations.length).toBeGreaterThan(15);
      expect(requests.flatMap((request) => findRequestProblem(request, operations) ?? [])).toEqual([]);
    },
  );

  it('finds a wrong parameter or path', () => {
    const operations = listStripeOperations();
    const check = (path: string) =>
      findRequestProblem({ method: 'GET', url: new URL(`https://api.stripe.com${path}`), body: '' }, operations);
    expect(check('/v1/disputes?charge=ch_1&limit=10')).toBeUndefined();
    expect(check('/v1/disputes?customer=cus_1')).toMatch(/parameter customer/);
    expect(check('/v1/disputed')).toMatch(/not an operation/);
  });

  it.each([
    [':revoke', { revocationContext: { fullRefund: {} } }, undefined],
    [':revoke', { revocationContext: { fullRefund: true } }, /another type/],
    [':revoke', { revocationContext: { wholeRefund: {} } }, /no wholeRefund/],
    [':defer', { deferralContext: { deferDuration: 7 } }, /deferDuration: 7 is not/],
    [':pause', {}, /not an operation/],
  ])('checks the JSON body of a request to Google Play: %s %j', (action, body, problem) => {
    const path = `/androidpublisher/v3/applications/com.example/purchases/subscriptionsv2/tokens/t${action}`;
    const url = new URL(`https://androidpublisher.googleapis.com${path}`);
    const found = findRequestProblem({ method: 'POST', url, body: JSON.stringify(body) }, listGooglePlayOperations());
    if (problem) expect(found).toMatch(problem);
    else expect(found).toBeUndefined();
  });

  it.each([
    ['v2/transactions/consumption/1', { customerConsented: true }, /deliveryStatus is missing/],
    ['v1/subscriptions/extend/1', { extendByDays: '7' }, /extendByDays: "7" is not/],
    ['v1/subscriptions/extend/1', { extendByDays: 7, extendReasonCode: 9 }, /9 is not a ExtendReasonCode/],
    ['v1/subscriptions/extend/1', { days: 7 }, /no days/],
  ])('checks the JSON body of a request to the App Store: %s %j', (path, body, problem) => {
    const url = new URL(`https://api.storekit.apple.com/inApps/${path}`);
    const request = { method: 'PUT', url, body: JSON.stringify(body) };
    expect(findRequestProblem(request, listAppStoreOperations())).toMatch(problem);
  });
});
