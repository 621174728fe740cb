import { beforeEach, describe, expect, it } from '@jest/globals';
import { changeSettings, createApiKey, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerTimeline } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import {
  answerRefundRequest,
  getRefundRequest,
  listRefundRequests,
  setRefundConsent,
} from '../../lib/refunds/contract.ts';
import { buildBasicAuth, callEndpoint, callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import {
  buyCoins,
  getEmulatedRequest,
  processNotifications,
  refundPlatforms,
  requestRefund,
  runDueSteps,
} from '../../testing/refund-requests.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(async () => await startTestService('claimcheck-test-refunds'));
const router = startBeforeAll(async () => await startNotificationRouter(service, refundPlatforms));
let keys: IssuedApiKeys;
// Each test has its own app: its policy and its list of requests.
beforeEach(async () => {
  keys = await service.createApp(refundPlatforms);
  router.routeTo([keys.appName]);
});

let count = 0;
const nextUser = (): string => `buyer-${++count}`;

/** Buys coins, requests the refund and returns the request of the service. */
async function givenRequest(platform: string, username = nextUser(), details: object = {}) {
  const id = await buyCoins(service, keys, { platform, applicationUsername: username });
  await requestRefund({ service, router, keys }, id, details);
  const { body } = await callWithSecretKey(listRefundRequests, keys, { query: { state: 'open' } });
  const request = body.rows.find((row: { purchaseId: string }) => row.purchaseId === `${platform}:${id}`);
  return { id, request, username };
}

const get = async (requestId: string) =>
  (await callWithSecretKey(getRefundRequest, keys, { params: { id: requestId } })).body;
const answer = async (requestId: string, body: object) =>
  await callWithSecretKey(answerRefundRequest, keys, { params: { id: requestId }, body });
const advance = async (period: string) => await service.callControl('/clock', { advance: period });
const consent = async (applicationUsername: string, consented = true) =>
  await callWithSecretKey(setRefundConsent, keys, { params: { applicationUsername }, body: { consented } });

it('ends a purchase after a lost chargeback (Google Play) with the reason of a lost dispute', async () => {
  const { id, request } = await givenRequest('store_b');
  await answer(request.id, { preference: 'approve', customerConsented: true });
  await processNotifications(router, keys);
  const query = { include_notifications: 'true' };
  const { body } = await callWithSecretKey(getPurchase, keys, { params: { purchaseId: `store_b:${id}` }, query });
  expect(body).toMatchObject({ isExpired: true, cancelationReason: 'System' });
  expect(body.notifications.map(({ reason }: { reason: string }) => reason)).toContain('REVOKED');
});

describe.each([
  ['store_a', 12, 'UNINTENDED_PURCHASE', 'CONSUMPTION_REQUEST'],
  ['store_b', 24, 'CHARGEBACK', 'PENDING_REFUND_REVIEW'],
])('refund requests of %s', (platform, hours, reason, notificationType) => {
  it('lists an open request with its deadline, its customer and the prepared statement', async () => {
    const { id, request, username } = await givenRequest(platform);
    expect(request).toMatchObject({
      platform,
      purchaseId: `${platform}:${id}`,
      applicationUsername: username,
      productId: `${platform}:coins`,
      state: 'open',
      reason,
      facts: { isDelivered: true, purchaseCount: 1, refundedUSD: 0 },
      preparedAnswer: { preference: 'neutral', customerConsented: false, sampleContentProvided: false },
      answer: null,
      outcome: null,
    });
    expect(request.facts.paidUSD).toBeGreaterThan(0);
    expect(Date.parse(request.deadline) - Date.parse(request.requestedAt)).toBe(hours * 3_600_000);
    expect(await get(request.id)).toEqual(request);
  });

  it('sends the first statement, rejects the second one with the first, and shows the outcome', async () => {
    const { id, request } = await givenRequest(platform);
    const body = { preference: 'approve', customerConsented: true };
    expect(await answer(request.id, body)).toMatchObject({
      status: 200,
      body: { state: 'answered', answer: { preference: 'approve', sentAt: expect.any(String) } },
    });
    expect(await answer(request.id, { ...body, preference: 'decline' })).toMatchObject({
      status: 409,
      body: { code: 'Conflict', answer: { preference: 'approve', answeredBy: { type: 'key', name: 'main' } } },
    });
    const emulated = await getEmulatedRequest(service, id);
    expect(emulated).toMatchObject({ state: 'approved', ignoredAnswers: [] });
    await processNotifications(router, keys);
    expect(await get(request.id)).toMatchObject({ state: 'answered', outcome: 'refunded', preparedAnswer: null });
  });

  it('shows the request and the statement in the timeline of the customer', async () => {
    const { request, username } = await givenRequest(platform);
    await answer(request.id, { preference: 'approve', customerConsented: true });
    const params = { applicationUsername: username };
    const { body } = await callWithSecretKey(getCustomerTimeline, keys, { params });
    const rows = body.rows.map(
      (row: { notificationType?: string; eventType?: string }) => row.notificationType ?? row.eventType,
    );
    expect(rows).toEqual(expect.arrayContaining(['refund.answered', notificationType]));
  });

  it('rejects a statement after the deadline', async () => {
    const { request } = await givenRequest(platform);
    await advance(`PT${hours}H`);
    expect(await answer(request.id, { preference: 'decline', customerConsented: true })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('deadline') },
    });
    expect(await get(request.id)).toMatchObject({ state: 'expired', preparedAnswer: null });
  });

  it('sends the prepared statement 30 minutes before the deadline by policy', async () => {
    await changeSettings(getService(), keys.appName, { refundPolicy: 'answer' });
    const username = nextUser();
    await consent(username);
    const { id, request } = await givenRequest(platform, username);
    await advance(`PT${hours - 1}H`);
    await runDueSteps(keys);
    expect(await getEmulatedRequest(service, id)).toMatchObject({ state: 'open' });
    await advance('PT31M');
    await runDueSteps(keys);
    expect(await getEmulatedRequest(service, id)).toMatchObject({ state: 'declined', ignoredAnswers: [] });
    expect((await getEmulatedRequest(service, id)).answer).toBeDefined();
    expect(await get(request.id)).toMatchObject({ state: 'answered', answer: { answeredBy: { type: 'policy' } } });
    const params = { applicationUsername: username };
    const { body } = await callWithSecretKey(getCustomerTimeline, keys, { params });
    expect(body.rows).toContainEqual(expect.objectContaining({ eventType: 'refund.answered' }));
  });

  it('sends nothing by the policy silent', async () => {
    const username = nextUser();
    await consent(username);
    const { id, request } = await givenRequest(platform, username);
    await advance(`PT${hours - 1}H`);
    await advance('PT59M');
    await runDueSteps(keys);
    expect((await getEmulatedRequest(service, id)).answer).toBeUndefined();
    expect(await get(request.id)).toMatchObject({ state: 'open' });
  });

  it('sends a statement again until the store is available', async () => {
    const { id, request } = await givenRequest(platform);
    await service.callControl('/faults', { platform, fault: 'down', times: 20 });
    expect(await answer(request.id, { preference: 'decline', customerConsented: true })).toMatchObject({
      status: 200,
      body: { state: 'answered', answer: { sentAt: null, failureReason: expect.stringContaining('unavailable') } },
    });
    await service.clearFaults();
    await advance('PT5M');
    await runDueSteps(keys);
    expect(await getEmulatedRequest(service, id)).toMatchObject({ state: 'declined' });
    expect(await get(request.id)).toMatchObject({ answer: { sentAt: expect.any(String) } });
  });

  it('accepts a support key, and only reads with a viewer key', async () => {
    const createKey = async (level: 'support' | 'viewer') =>
      (await createApiKey(getService(), keys.appName, { level, name: level, now: Date.now() })).key;
    // Before the first call, because keys are cached.
    const [support, viewer] = [await createKey('support'), await createKey('viewer')];
    const { request } = await givenRequest(platform);
    const params = { id: request.id };
    const call = async (key: string) => {
      const headers = buildBasicAuth(keys.appName, key);
      const body = { preference: 'decline', customerConsented: true };
      return [
        (await callEndpoint(getRefundRequest, { params, headers })).status,
        (await callEndpoint(answerRefundRequest, { params, headers, body })).status,
      ];
    };
    expect(await call(viewer)).toEqual([200, 403]);
    expect(await call(support)).toEqual([200, 200]);
    expect((await callWithPublicKey(getRefundRequest, keys, { params })).status).toBe(403);
  });
});

describe('answerRefundRequest (App Store)', () => {
  it('sends no statement without the consent of the customer', async () => {
    await changeSettings(getService(), keys.appName, { refundPolicy: 'answer' });
    const { id, request } = await givenRequest('store_a');
    expect(await answer(request.id, { preference: 'decline', customerConsented: false })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('customerConsented') },
    });
    await advance('PT11H45M');
    await runDueSteps(keys);
    expect((await getEmulatedRequest(service, id)).answer).toBeUndefined();
  });

  it('rejects a used part of an undelivered product, which the App Store would ignore', async () => {
    const { id, request } = await givenRequest('store_a');
    const statement = { preference: 'decline', customerConsented: true, deliveryStatus: 'UNDELIVERED_OTHER' };
    expect(await answer(request.id, { ...statement, consumptionPercentage: 80_000 })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('consumptionPercentage must be 0') },
    });
    expect(await answer(request.id, { ...statement, consumptionPercentage: 0 })).toMatchObject({ status: 200 });
    expect(await getEmulatedRequest(service, id)).toMatchObject({ state: 'declined' });
  });

  it('keeps the request open after a statement that Apple rejects', async () => {
    const { id, request } = await givenRequest('store_a');
    const rejected = { preference: 'approve', isProrated: true, customerConsented: true, consumptionPercentage: 0 };
    expect(await answer(request.id, rejected)).toMatchObject({ status: 400 });
    expect(await get(request.id)).toMatchObject({ state: 'open', rejection: { message: expect.any(String) } });
    await answer(request.id, { preference: 'decline', customerConsented: true });
    expect(await getEmulatedRequest(service, id)).toMatchObject({ state: 'declined' });
    await processNotifications(router, keys);
    expect(await get(request.id)).toMatchObject({ outcome: 'declined' });
  });

  it('keeps one request for repeated notifications, and opens another one after a decision', async () => {
    const { id, request } = await givenRequest('store_a');
    await requestRefund({ service, router, keys }, id);
    await service.callControl(`/purchases/${id}/decline-refund`, {});
    await processNotifications(router, keys);
    expect(await get(request.id)).toMatchObject({ state: 'expired', outcome: 'declined' });
    await advance('PT1M');
    await requestRefund({ service, router, keys }, id);
    const { body } = await callWithSecretKey(listRefundRequests, keys);
    const own = body.rows.filter((row: { purchaseId: string }) => row.purchaseId === `store_a:${id}`);
    expect(own.map((row: { state: string }) => row.state)).toEqual(['open', 'expired']);
  });

  it('closes a request that is processed after the decision about it', async () => {
    const id = await buyCoins(service, keys, { platform: 'store_a', applicationUsername: nextUser() });
    for (const action of ['request-refund', 'decline-refund'])
      await service.callControl(`/purchases/${id}/${action}`, {});
    await router.waitUntilPosted();
    await router.process(router.take(keys.appName).reverse());
    const { body } = await callWithSecretKey(listRefundRequests, keys);
    const request = body.rows.find((row: { purchaseId: string }) => row.purchaseId === `store_a:${id}`);
    expect(request).toMatchObject({ state: 'expired', outcome: 'declined', preparedAnswer: null });
  });

  it('reports a reversed refund', async () => {
    const { id, request } = await givenRequest('store_a');
    for (const action of ['refund', 'reverse-refund']) {
      await service.callControl(`/purchases/${id}/${action}`, {});
      await processNotifications(router, keys);
    }
    expect(await get(request.id)).toMatchObject({ outcome: 'reversed' });
  });
});

it('lists requests by state', async () => {
  const expired = await givenRequest('store_a');
  await advance('PT12H');
  const answered = await givenRequest('store_a');
  await answer(answered.request.id, { preference: 'decline', customerConsented: true });
  const open = await givenRequest('store_a');
  for (const [state, { request }] of Object.entries({ open, answered, expired })) {
    const { body } = await callWithSecretKey(listRefundRequests, keys, { query: { state } });
    expect(body.rows.map(({ id }: { id: string }) => id)).toEqual([request.id]);
  }
});
