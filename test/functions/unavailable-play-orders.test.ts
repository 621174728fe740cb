import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import type { HttpServer } from '../../local/http-server.ts';
import { buyValidated } from '../../testing/buy-validated.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { interceptStores } from '../../testing/intercept-stores.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let areOrdersDown = false;
let service: TestService;
let stores: HttpServer;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  stores = await interceptStores(service, ({ url }) =>
    areOrdersDown && /\/orders[/:]/.test(url.pathname) ? 503 : undefined,
  );
  keys = await service.createApp(['store_b']);
});
afterEach(() => {
  areOrdersDown = false;
});
afterAll(async () => {
  await stores.close();
  await service.close();
});

/** Buys and validates a product of Google Play. */
async function validateOrder(order: object) {
  const product = { platform: 'store_b', productId: createUniqueName('product'), ...order } as const;
  const { act, purchaseId } = await buyValidated(service, keys, product);
  /** Refreshes the purchase and returns its latest transaction. */
  const refresh = async (orders: 'available' | 'down') => {
    areOrdersDown = orders === 'down';
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const [transaction] = await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId]);
    return transaction;
  };
  const listReasons = async (): Promise<string[]> => {
    const { body: purchase } = await callWithSecretKey(getPurchase, keys, {
      params: { purchaseId },
      query: { include_notifications: 'true' },
    });
    return purchase.notifications.map(({ reason }: { reason: string }) => reason);
  };
  return { act, refresh, listReasons };
}

describe('refreshPurchase (Google Play) with unavailable orders', () => {
  it('keeps the payment data and announces a refund once', async () => {
    const { act, refresh, listReasons } = await validateOrder({ type: 'paid subscription' });
    await act('refund');
    const transaction = await refresh('available');
    expect(transaction).toMatchObject({ amountMicros: 4_990_000, refundedAt: expect.any(Number) });
    for (const orders of ['down', 'available', 'down', 'available'] as const)
      expect(await refresh(orders)).toEqual(transaction);
    expect(await listReasons()).toEqual(['PURCHASED', 'REFUNDED']);
  });

  it('marks the purchase as refunded after the revocation', async () => {
    const { act, refresh, listReasons } = await validateOrder({ type: 'consumable' });
    await act('revoke');
    expect(await refresh('down')).toMatchObject({ amountMicros: 4_990_000, refundedAt: expect.any(Number) });
    expect(await listReasons()).toEqual(['PURCHASED', 'REFUNDED']);
  });
});
