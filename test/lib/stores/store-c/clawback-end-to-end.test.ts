import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getPurchase } from '../../../../lib/api/purchases.ts';
import type { IssuedApiKeys } from '../../../../lib/apps/manage-apps.ts';
import { deps } from '../../../../lib/deps.ts';
import { pollNotifications } from '../../../../lib/store-notifications/recover-notifications.ts';
import { buildBasicAuth, callEndpoint } from '../../../../testing/call.ts';
import { startTestService, type TestService } from '../../../../testing/service.ts';
import { startWorkQueues, type WorkQueues } from '../../../../testing/work-queues.ts';

let service: TestService;
let queues: WorkQueues;
beforeAll(async () => {
  service = await startTestService();
  queues = await startWorkQueues();
});
afterAll(async () => {
  await queues.close();
  await service.close();
});

/** Looks for what the stores hold ready for one application, and takes it in. */
async function lookFor({ appName }: IssuedApiKeys): Promise<void> {
  const { apps } = deps();
  const list = async () => (await apps.list()).filter(({ name }) => name === appName);
  await pollNotifications({ ...deps(), apps: { ...apps, list } }, () => 280_000);
  await queues.drain();
}

async function stored({ appName, secretKey }: IssuedApiKeys, purchaseId: string) {
  const query = { include_notifications: 'true', include_transactions: 'true' };
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
    query,
  });
  return body;
}

let count = 0;

/** A validated purchase of an application of its own. */
async function validated(order: object, settings: object = {}) {
  const keys = await service.createApp(['store_c'], settings);
  count += 1;
  const productId = `9NBLGGH${String(count).padStart(5, '0')}`;
  const { id, validate } = await service.callControl('/purchases', { platform: 'store_c', productId, ...order });
  const again = async () => await service.validate(keys, validate);
  expect((await again()).body).toMatchObject({ ok: true });
  const act = async (action: string) => await service.callControl(`/purchases/${encodeURIComponent(id)}/${action}`, {});
  return { keys, id: `store_c:${id}`, again, act, state: async () => await stored(keys, `store_c:${id}`) };
}

const reasonsOf = (purchase: { notifications: { reason: string }[] }) =>
  purchase.notifications.map(({ reason }) => reason);

it.each([
  ['subscription', { type: 'paid subscription', period: 'P1M' }],
  ['durable', { type: 'non consumable' }],
  ['consumable', { type: 'consumable' }],
])('a %s that was refunded is told of once, with the payment that went back', async (_what, order) => {
  const { keys, act, state } = await validated({ ...order, priceMicros: 1_990_000, currency: 'EUR' });
  await act('refund');
  await lookFor(keys);
  await lookFor(keys);
  const purchase = await state();
  expect(reasonsOf(purchase)).toEqual(['PURCHASED', 'REFUNDED']);
  expect(purchase).toMatchObject({ cancelationReason: expect.any(String) });
});

it.each([
  ['a renewal that is known', true],
  ['a renewal that nobody has seen yet', false],
])('a refund of %s leaves the first payment alone', async (_what, isSeen) => {
  const { keys, id, act, again, state } = await validated({
    type: 'paid subscription',
    period: 'P1W',
    autoRenew: true,
  });
  await service.callControl('/clock', { advance: 'P8D' });
  if (isSeen) await again();
  await act('refund');
  await lookFor(keys);
  const purchase = await state();
  expect(reasonsOf(purchase).sort()).toEqual(['PURCHASED', 'REFUNDED', 'RENEWED']);
  const payments = await deps().purchases.listTransactions(keys.appName, [id]);
  expect(payments.map(({ refundedAt }) => refundedAt !== undefined)).toEqual([true, false]);
});

it('a refund of what was consumed stays, although the store shows nothing of it afterwards', async () => {
  const { keys, act, again, state } = await validated({ type: 'consumable', quantity: 1 }, { consume: true });
  await act('refund');
  await lookFor(keys);
  const refunded = await state();
  expect(reasonsOf(refunded)).toContain('REFUNDED');
  await again();
  expect(reasonsOf(await state())).toEqual(reasonsOf(refunded));
});

it('a refund before the purchase is validated waits in the queue for that', async () => {
  const keys = await service.createApp(['store_c']);
  const order = { platform: 'store_c', productId: '9NBLGGHWAITS', type: 'paid subscription' };
  const { id, validate } = await service.callControl('/purchases', order);
  await service.callControl(`/purchases/${encodeURIComponent(id)}/refund`, {});
  await lookFor(keys);
  expect((await stored(keys, `store_c:${id}`)).status).not.toBe(200);
  await service.validate(keys, validate);
  await service.callControl('/clock', { advance: 'PT1H' });
  await lookFor(keys);
  const purchase = await stored(keys, `store_c:${id}`);
  expect(purchase).toMatchObject({ transactionId: expect.any(String), cancelationReason: expect.any(String) });
});

it('a refund reaches its application, although others of the publisher read the same queue before', async () => {
  const [first, second] = [await service.createApp(['store_c']), await service.createApp(['store_c'])];
  const { keys, act, state } = await validated({ type: 'non consumable' });
  await act('refund');
  for (const each of [first, second, keys]) await lookFor(each);
  expect(reasonsOf(await state())).toEqual(['PURCHASED', 'REFUNDED']);
});
