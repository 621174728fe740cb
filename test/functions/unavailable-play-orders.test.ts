import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { getPurchase } from '../../lib/api/purchases.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

const realFetch = globalThis.fetch;
let areOrdersDown = false;
let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['store_b']);
  globalThis.fetch = async (input, init) =>
    areOrdersDown && /\/orders[/:]/.test(String(input)) ? new Response('', { status: 503 }) : realFetch(input, init);
});
afterEach(() => {
  areOrdersDown = false;
});
afterAll(async () => {
  globalThis.fetch = realFetch;
  await service.close();
});

async function given(order: object) {
  const { id, validate } = await service.callControl('/purchases', {
    platform: 'store_b',
    productId: createUniqueName('product'),
    applicationUsername: createUniqueName('user'),
    ...order,
  });
  const { body } = await service.validate(keys, validate);
  const purchaseId = `store_b:${body.data.collection[0].purchaseId}`;
  const act = async (action: string) => await service.callControl(`/purchases/${id}/${action}`, {});
  const look = async (orders: 'told' | 'down') => {
    areOrdersDown = orders === 'down';
    await refreshPurchase({ appName: keys.appName, purchaseId }, deps());
    const [payment] = await deps().purchases.listTransactions(keys.appName, [purchaseId]);
    return payment;
  };
  const reasons = async (): Promise<string[]> => {
    const [headers, params] = [buildBasicAuth(keys.appName, keys.secretKey), { purchaseId }];
    const { body: purchase } = await callEndpoint(getPurchase, {
      headers,
      params,
      query: { include_notifications: 'true' },
    });
    return purchase.notifications.map(({ reason }: { reason: string }) => reason);
  };
  return { act, look, reasons };
}

describe('processNotification of store_b with unavailable orders', () => {
  it('keeps the payment data and announces a refund once', async () => {
    const { act, look, reasons } = await given({ type: 'paid subscription' });
    await act('refund');
    const told = await look('told');
    expect(told).toMatchObject({ amountMicros: 4_990_000, refundedAt: expect.any(Number) });
    for (const orders of ['down', 'told', 'down', 'told'] as const) expect(await look(orders)).toEqual(told);
    expect(await reasons()).toEqual(['PURCHASED', 'REFUNDED']);
  });

  it('marks the purchase as refunded after the revocation', async () => {
    const { act, look, reasons } = await given({ type: 'consumable' });
    await act('revoke');
    expect(await look('down')).toMatchObject({ amountMicros: 4_990_000, refundedAt: expect.any(Number) });
    expect(await reasons()).toEqual(['PURCHASED', 'REFUNDED']);
  });
});
