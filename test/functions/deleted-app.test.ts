import { describe, expect, it } from '@jest/globals';
import { deleteApp } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

/** Deletes an app that has a purchase with a scheduled refresh. */
async function givenDeletedApp() {
  const keys = await service.createApp(['store_b']);
  const order = { platform: 'store_b', productId: createUniqueName('product'), type: 'paid subscription' };
  const { id, validate } = await service.callControl('/purchases', { ...order, autoRenew: true });
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  const purchaseId = `store_b:${id}`;
  const readItem = async () => await getService().table.get(purchaseKey(keys.appName, purchaseId));
  expect(await readItem()).toMatchObject({ duePk: expect.any(String), dueSk: expect.any(String) });
  await deleteApp(getService(), keys.appName, getService().now());
  return { keys, purchaseId, readItem };
}

describe('deleteApp', () => {
  it('rejects requests with AppNotFound, for the correct key only', async () => {
    const { keys, purchaseId } = await givenDeletedApp();
    await service.callControl('/clock', { advance: 'PT1H' });
    const read = async (secretKey: string) =>
      await callWithSecretKey(getPurchase, { ...keys, secretKey }, { params: { purchaseId } });
    expect(await read(keys.secretKey)).toMatchObject({ status: 404, body: { code: 'AppNotFound' } });
    expect(await read('sec_wrong')).toMatchObject({ status: 401 });
  });

  it('keeps its purchases, and removes them from the refresh schedule when they are due', async () => {
    const { keys, purchaseId, readItem } = await givenDeletedApp();
    await service.callControl('/clock', { advance: 'PT1H' });
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const item = await readItem();
    expect(item).toMatchObject({ purchase: expect.anything() });
    expect(item).not.toHaveProperty('duePk');
    expect(item).not.toHaveProperty('dueSk');
  });
});
