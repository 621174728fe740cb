import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/container.ts';
import { type Platform, withPlatform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service.close();
});

/** Buys and validates a monthly subscription, and returns its id and functions to change and read it. */
async function givenSubscription(platform: Platform) {
  const order = {
    platform,
    productId: platform === 'store_c' ? '9NBLGGH5W001' : createUniqueName('product'),
    type: 'paid subscription',
    ...(platform === 'store_a' && { form: 'product' }),
  };
  const { id, validate } = await service.callControl('/purchases', order);
  const keys = await service.createApp([platform]);
  const { body: response } = await service.validate(keys, validate);
  const purchaseId = withPlatform(platform, response.data.collection[0].purchaseId);
  const params = { purchaseId };
  return {
    act: async (action: string) => await service.callControl(`/purchases/${id}/${action}`, {}),
    readAfterRefresh: async () => {
      await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
      return (await callWithSecretKey(getPurchase, keys, { params })).body;
    },
    validateAgain: async () => (await service.validate(keys, validate)).body.data?.collection?.[0],
  };
}

const platforms = ['store_a', 'store_b', 'store_c', 'processor_a', 'service_processor_a', 'processor_b'] as const;

describe('cancelationReason', () => {
  it.each(platforms)('stays absent while a canceled subscription of %s gives access', async (platform) => {
    const { act, readAfterRefresh, validateAgain } = await givenSubscription(platform);
    await act('cancel');
    const record = await readAfterRefresh();
    expect(record).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    expect(record).not.toHaveProperty('cancelationReason');
    const validated = await validateAgain();
    expect(validated).toMatchObject({ isExpired: false });
    expect(validated).not.toHaveProperty('cancelationReason');
    await act('expire');
    expect(await readAfterRefresh()).toMatchObject({ isExpired: true });
  });
});
