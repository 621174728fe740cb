import { describe, expect, it } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { signDeveloperToken } from './emulator-client.ts';
import { startGooglePlayClient } from './google-play-client-app.ts';

const client = startBeforeAll(startGooglePlayClient);

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
type Fields = any;

const listRequests = async (purchaseId: string): Promise<Fields[]> => {
  const { body } = await client.control('GET', '/control/refund-requests');
  return body.refundRequests.filter((request: Fields) => request.purchaseId === purchaseId);
};
const getRequest = async (purchaseId: string): Promise<Fields> => (await listRequests(purchaseId))[0];

const put = async (path: string, body: object) =>
  await client.call(`/api.storekit.apple.com${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${signDeveloperToken(client)}` },
    body: JSON.stringify(body),
  });

const answer = { customerConsented: true, deliveryStatus: 'DELIVERED', sampleContentProvided: false };
let count = 0;
const buyOnAppStore = async (order: object = {}): Promise<string> => {
  count += 1;
  const bought = await client.buy({
    platform: 'store_a',
    productId: 'coins',
    type: 'consumable',
    applicationUsername: `u${count}`,
    ...order,
  });
  return bought.body.id;
};

describe('App Store: request-refund', () => {
  it('waits twelve hours for consumption information and declines the refund without it', async () => {
    const id = await buyOnAppStore();
    const { body } = await client.act(id, 'request-refund', { reason: 'FULFILLMENT_ISSUE' });
    expect(body.notifications).toMatchObject([{ notificationType: 'CONSUMPTION_REQUEST' }]);
    const request = await getRequest(id);
    expect(request).toMatchObject({ platform: 'store_a', reason: 'FULFILLMENT_ISSUE', state: 'open' });
    expect(Date.parse(request.deadline) - Date.parse(request.requestedAt)).toBe(12 * 3_600_000);
    await client.advance('PT11H59M');
    expect(await getRequest(id)).toMatchObject({ state: 'open' });
    await client.advance('PT2M');
    expect(await getRequest(id)).toMatchObject({ state: 'declined', decidedAt: request.deadline });
  });

  it.each([
    ['GRANT_FULL', 'approved', 'REFUND'],
    ['DECLINE', 'declined', 'REFUND_DECLINED'],
  ])('decides immediately after consumption information with %s', async (refundPreference, state, type) => {
    const id = await buyOnAppStore();
    await client.act(id, 'request-refund');
    const path = `/inApps/v2/transactions/consumption/${id}`;
    expect(await put(path, { ...answer, refundPreference, consumptionPercentage: 50_000 })).toMatchObject({
      status: 202,
      body: '',
    });
    expect(await put(path, { ...answer, refundPreference: 'GRANT_FULL' })).toMatchObject({ status: 202 });
    const request = await getRequest(id);
    expect(request).toMatchObject({ state, answer: { body: { refundPreference } } });
    expect(request.ignoredAnswers).toHaveLength(1);
    const { body } = await client.control('GET', '/control');
    const sent = body.notifications.filter((one: Fields) => one.purchaseId === id);
    expect(sent.filter((one: Fields) => one.notificationType.startsWith('REFUND'))).toMatchObject([
      { notificationType: type },
    ]);
  });

  it.each([
    ['v2', { customerConsented: false }, {}, 4000035],
    ['v2', { deliveryStatus: 0 }, {}, 4000036],
    ['v2', { sampleContentProvided: undefined }, {}, 4000041],
    ['v2', { refundPreference: 'GRANT' }, {}, 4000044],
    ['v2', { consumptionPercentage: 100_001 }, {}, 4000000],
    ['v2', { deliveryStatus: 'UNDELIVERED_OTHER', consumptionPercentage: 1 }, {}, 4000000],
    ['v2', { consumptionPercentage: 1 }, { productId: 'monthly', type: 'paid subscription' }, 4000000],
    ['v1', {}, { productId: 'book', type: 'non consumable' }, 4000047],
    ['v1', {}, {}, 4000033],
  ])('rejects information of %s with %j about %j', async (version, changes, order, errorCode) => {
    const id = await buyOnAppStore(order);
    await client.act(id, 'request-refund');
    const result = await put(`/inApps/${version}/transactions/consumption/${id}`, { ...answer, ...changes });
    expect(result).toMatchObject({ status: 400, body: { errorCode } });
    expect(await getRequest(id)).toMatchObject({ state: 'open' });
  });

  it('closes the request when the store refunds or declines first', async () => {
    const [refunded, declined] = [await buyOnAppStore(), await buyOnAppStore()];
    for (const id of [refunded, declined]) await client.act(id, 'request-refund');
    await client.act(refunded, 'refund');
    await client.act(declined, 'decline-refund');
    expect(await getRequest(refunded)).toMatchObject({ state: 'approved' });
    expect(await getRequest(declined)).toMatchObject({ state: 'declined' });
  });

  it('keeps the deadline of a repeated request', async () => {
    const id = await buyOnAppStore();
    await client.act(id, 'request-refund');
    await client.advance('PT1H');
    await client.act(id, 'request-refund');
    expect(await listRequests(id)).toHaveLength(1);
  });

  it('rejects a reason that the store does not have', async () => {
    expect(await client.act(await buyOnAppStore(), 'request-refund', { reason: 'WHIM' })).toMatchObject({
      status: 400,
    });
  });
});

describe('Google Play: request-refund', () => {
  const buy = async (order: object = {}): Promise<string> => await buyOnAppStore({ platform: 'store_b', ...order });
  const review = async ({ transactionId, id }: Fields, changes: object = {}) =>
    await client.api(`orders/${transactionId}:reviewrefund`, {
      method: 'POST',
      headers: { authorization: `Bearer ${(await client.exchange()).body.access_token}` },
      body: JSON.stringify({
        pendingRefundToken: id,
        sampleContentProvided: false,
        refundPreference: 'APPROVE',
        ...changes,
      }),
    });

  it('notifies with the order and a token, and waits 24 hours', async () => {
    const id = await buy();
    const { body } = await client.act(id, 'request-refund');
    const request = await getRequest(id);
    const { pendingRefundReviewNotification: notified } = body.notifications[0];
    expect(notified).toMatchObject({
      pendingRefundToken: request.id,
      orderId: request.transactionId,
      refundReason: 7,
      obfuscatedAccountId: expect.any(String),
    });
    expect(notified).not.toHaveProperty('purchaseToken');
    expect(Date.parse(request.deadline) - Date.parse(request.requestedAt)).toBe(24 * 3_600_000);
    await client.advance('P1D');
    expect(await getRequest(id)).toMatchObject({ state: 'declined' });
  });

  it.each([{}, { productId: 'monthly', type: 'paid subscription' }])(
    'voids the order of %j after an approval, and ignores a later suggestion',
    async (order) => {
      const id = await buy(order);
      await client.act(id, 'request-refund');
      const request = await getRequest(id);
      expect(await review(request)).toMatchObject({ status: 200, body: {} });
      expect(await review(request, { refundPreference: 'DECLINE' })).toMatchObject({ status: 200 });
      expect(await getRequest(id)).toMatchObject({
        state: 'approved',
        answer: { body: { refundPreference: 'APPROVE' } },
        ignoredAnswers: [{ body: { refundPreference: 'DECLINE' } }],
      });
      const { body } = await client.control('GET', '/control');
      const sent = body.notifications.filter((one: Fields) => one.purchaseId === id);
      expect(sent.filter((one: Fields) => one.voidedPurchaseNotification)).toHaveLength(1);
    },
  );

  it('keeps the purchase after a declined refund', async () => {
    const id = await buy();
    await client.act(id, 'request-refund');
    await review(await getRequest(id), { refundPreference: 'NEUTRAL' });
    expect(await getRequest(id)).toMatchObject({ state: 'declined' });
  });

  it.each([
    [{ pendingRefundToken: 'other' }, 400],
    [{ refundPreference: 'MAYBE' }, 400],
    [{ sampleContentProvided: undefined }, 400],
    [{ consumptionPercentageMilliunits: 100_001 }, 400],
  ])('rejects a suggestion with %j', async (changes, status) => {
    const id = await buy();
    await client.act(id, 'request-refund');
    expect(await review(await getRequest(id), changes)).toMatchObject({ status });
    expect(await getRequest(id)).toMatchObject({ state: 'open' });
  });
});
