import { describe, expect, it } from '@jest/globals';
import { getApp, type IssuedApiKeys } from '../../../../lib/apps/manage-apps.ts';
import { getService } from '../../../../lib/foundation/get-service.ts';
import { getPurchase } from '../../../../lib/purchases/contract.ts';
import { listTransactionsOfPurchases } from '../../../../lib/purchases/purchase-table.ts';
import { pollNotifications } from '../../../../lib/store-notifications/recover-notifications.ts';
import { buildBasicAuth, callEndpoint } from '../../../../testing/call.ts';
import { startTestService } from '../../../../testing/service.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startWorkQueues } from '../../../../testing/work-queues.ts';

const service = startBeforeAll(startTestService);
const queues = startBeforeAll(startWorkQueues);

/** Polls the store notifications of one app and processes them. */
async function pollFor({ appName }: IssuedApiKeys): Promise<void> {
  await pollNotifications(getService(), [await getApp(getService(), appName)], () => 280_000);
  await queues.drain();
}

async function readPurchase({ appName, secretKey }: IssuedApiKeys, purchaseId: string) {
  const query = { include_notifications: 'true', include_transactions: 'true' };
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
    query,
  });
  return body;
}

let productCount = 0;

/** Buys a product and validates it for a new app. */
async function buyAndValidate(order: object, settings: object = {}) {
  const keys = await service.createApp(['store_c'], settings);
  productCount += 1;
  const productId = `9NBLGGH${String(productCount).padStart(5, '0')}`;
  const { id, validate } = await service.callControl('/purchases', { platform: 'store_c', productId, ...order });
  const revalidate = async () => await service.validate(keys, validate);
  expect((await revalidate()).body).toMatchObject({ ok: true });
  const refund = async (details: object = {}) =>
    await service.callControl(`/purchases/${encodeURIComponent(id)}/refund`, details);
  /** Performs an action, or reads the purchase at the store. */
  const act = async (action?: string) =>
    await service.callControl(
      `/purchases/${encodeURIComponent(id)}${action ? `/${action}` : ''}`,
      action ? {} : undefined,
    );
  const read = async () => await readPurchase(keys, `store_c:${id}`);
  return { keys, id: `store_c:${id}`, revalidate, refund, act, read };
}

const listReasons = (purchase: { notifications: { reason: string }[] }) =>
  purchase.notifications.map(({ reason }) => reason);

describe('pollNotifications (Microsoft Store)', () => {
  it.each([
    ['subscription', { type: 'paid subscription', period: 'P1M' }],
    ['durable', { type: 'non consumable' }],
    ['consumable', { type: 'consumable' }],
  ])('announces the refund of a %s once', async (_kind, order) => {
    const { keys, refund, read } = await buyAndValidate({ ...order, priceMicros: 1_990_000, currency: 'EUR' });
    await refund();
    await pollFor(keys);
    await pollFor(keys);
    const purchase = await read();
    expect(listReasons(purchase)).toEqual(['PURCHASED', 'REFUNDED']);
    expect(purchase).toMatchObject({ cancelationReason: expect.any(String) });
  });

  it.each([
    ['stored', true],
    ['new', false],
  ])('refunds only the latest payment if it is a %s renewal', async (_state, isStored) => {
    const { keys, id, refund, revalidate, read } = await buyAndValidate({
      type: 'paid subscription',
      period: 'P1W',
      autoRenew: true,
    });
    await service.callControl('/clock', { advance: 'P8D' });
    if (isStored) await revalidate();
    await refund();
    await pollFor(keys);
    const purchase = await read();
    expect(listReasons(purchase).sort()).toEqual(['PURCHASED', 'REFUNDED', 'RENEWED']);
    const payments = await listTransactionsOfPurchases(getService(), keys.appName, [id]);
    expect(payments.map(({ refundedAt }) => refundedAt !== undefined)).toEqual([true, false]);
  });

  it('refunds the unused time of a subscription if the refund is prorated', async () => {
    const order = { type: 'paid subscription', period: 'P1M', priceMicros: 10_000_000, currency: 'EUR' };
    const { keys, id, refund, read } = await buyAndValidate(order);
    await service.callControl('/clock', { advance: 'P10D' });
    const { refundedMicros } = await refund({ prorated: true });
    await pollFor(keys);
    expect(listReasons(await read())).toEqual(['PURCHASED', 'REFUNDED']);
    const [payment] = await listTransactionsOfPurchases(getService(), keys.appName, [id]);
    expect(payment?.refundedAt).toBeUndefined();
    expect(payment?.partialRefunds?.map(({ amountMicros }) => amountMicros)).toEqual([refundedMicros]);
    expect(refundedMicros).toBeLessThan(7_000_000);
  });

  it('keeps the refund of a consumed product, which the store no longer lists', async () => {
    const { keys, refund, revalidate, read } = await buyAndValidate(
      { type: 'consumable', quantity: 1 },
      { consume: true },
    );
    await refund();
    await pollFor(keys);
    const refunded = await read();
    expect(listReasons(refunded)).toContain('REFUNDED');
    await revalidate();
    expect(listReasons(await read())).toEqual(listReasons(refunded));
  });

  it('consumes a developer-managed consumable again that a reversed chargeback has restored', async () => {
    const order = { type: 'consumable', applicationUsername: 'restored' };
    const { keys, act, revalidate, read } = await buyAndValidate(order, { consume: true });
    for (const action of ['chargeback', 'reverse-chargeback']) {
      await service.callControl('/clock', { advance: 'P2D' });
      await act(action);
      await pollFor(keys);
    }
    expect((await revalidate()).body).toMatchObject({ ok: true });
    expect(await act()).toMatchObject({ quantity: 0 });
    expect(await read()).toMatchObject({ isConsumed: true });
  });

  it('leaves a refund in the queue until the purchase is validated', async () => {
    const keys = await service.createApp(['store_c']);
    const order = { platform: 'store_c', productId: '9NBLGGHWAITS', type: 'paid subscription' };
    const { id, validate } = await service.callControl('/purchases', order);
    await service.callControl(`/purchases/${encodeURIComponent(id)}/refund`, {});
    await pollFor(keys);
    expect((await readPurchase(keys, `store_c:${id}`)).status).not.toBe(200);
    await service.validate(keys, validate);
    await service.callControl('/clock', { advance: 'PT1H' });
    await pollFor(keys);
    const purchase = await readPurchase(keys, `store_c:${id}`);
    expect(purchase).toMatchObject({ transactionId: expect.any(String), cancelationReason: expect.any(String) });
  });

  it("finds an app's refund after other apps of the publisher polled the same queue", async () => {
    const [first, second] = [await service.createApp(['store_c']), await service.createApp(['store_c'])];
    const { keys, refund, read } = await buyAndValidate({ type: 'non consumable' });
    await refund();
    for (const appKeys of [first, second, keys]) await pollFor(appKeys);
    expect(listReasons(await read())).toEqual(['PURCHASED', 'REFUNDED']);
  });
});
