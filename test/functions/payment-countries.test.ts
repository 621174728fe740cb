import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/container.ts';
import { type Platform, withPlatform } from '../../lib/foundation/platform.ts';
import { findPurchase } from '../../lib/purchases/purchase-table.ts';
import { findTransaction } from '../../lib/purchases/transaction-table.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** A product for each store whose customers enter an address. */
const subscriptions = {
  store_c: '9NBLGGH5CNTRY',
  processor_a: 'country_plan',
  service_processor_a: 'country_plan',
  processor_b: 'monthly',
} as const satisfies Partial<Record<Platform, string>>;

/** Validates a purchase of a customer in Germany and returns the country of its transaction. */
async function readCountry(platform: Platform, order: object, actions: readonly string[] = []) {
  const keys = await service.createApp([platform]);
  const customer = { applicationUsername: createUniqueName('user'), country: 'DE' };
  const { id } = await service.callControl('/purchases', { platform, ...customer, ...order });
  const { validate } = await service.callControl(`/purchases/${id}`);
  const { body } = await service.validate(keys, validate);
  const purchaseId = withPlatform(platform, body.data.collection[0].purchaseId);
  for (const action of actions) {
    await service.callControl(`/purchases/${id}/${action}`, {});
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
  }
  const purchase = await findPurchase(getService(), keys.appName, purchaseId);
  const transaction = await findTransaction(getService(), keys.appName, purchase?.purchase.transactionId ?? '');
  return transaction?.storefront;
}

describe('the country of a payment', () => {
  it.each(Object.entries(subscriptions))(
    'stores the country of the customer of %s, also for a renewal',
    async (platform, id) => {
      const order = { productId: id, type: 'paid subscription' };
      expect(await readCountry(platform as Platform, order)).toBe('DE');
      expect(await readCountry(platform as Platform, order, ['renew'])).toBe('DE');
    },
  );

  it.each([
    ['processor_a', 'country_coins'],
    ['service_processor_a', 'country_coins'],
    ['processor_b', 'coins'],
  ] as const)('stores the country of the customer of a one-time purchase of %s', async (platform, productId) => {
    expect(await readCountry(platform, { productId, type: 'consumable' })).toBe('DE');
  });
});
