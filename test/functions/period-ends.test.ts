import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { storeCatalogue } from '../../lib/apps/app-table.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { addBillingPeriods } from '../../lib/foundation/billing-period.ts';
import { getService } from '../../lib/foundation/container.ts';
import { type Platform, withPlatform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
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

const season = { type: 'non renewing subscription', period: 'P3M' };

/** Buys a product and returns a function that validates it with a stated billing period. */
async function buy(platform: Platform, keys: IssuedApiKeys, order: object) {
  const { validate } = await service.callControl('/purchases', {
    platform,
    productId: createUniqueName('product'),
    form: platform === 'store_a' ? 'product' : undefined,
    ...order,
  });
  const { billingPeriod: _period, billingPeriodUnit: _unit, ...request } = validate;
  return async (statement: object = {}) => {
    const { body } = await service.validate(keys, { ...request, ...statement });
    const [purchase] = body.data?.collection ?? [];
    return { body, ...purchase };
  };
}

const years = (billingPeriod: number) => ({ billingPeriod, billingPeriodUnit: 'Year' });
const months = (billingPeriod: number) => ({ billingPeriod, billingPeriodUnit: 'Month' });

describe('the end of a subscription whose store does not report it', () => {
  it('stays within a year of a signed Play receipt, even after a later request', async () => {
    const keys = await service.createApp(['store_b'], { serviceAccount: undefined });
    const validate = await buy('store_b', keys, { type: 'paid subscription' });
    const first = await validate(years(500));
    expect(first.expiryDate).toBe(addBillingPeriods(first.purchaseDate, 'P1Y'));
    expect((await validate(years(1000))).expiryDate).toBe(first.expiryDate);
  });

  it('stays the same after a later request for a non-renewing subscription', async () => {
    const keys = await service.createApp(['store_a']);
    const validate = await buy('store_a', keys, season);
    const first = await validate(months(1));
    expect(first.expiryDate).toBe(addBillingPeriods(first.purchaseDate, 'P1M'));
    for (const statement of [years(10), {}, { billingPeriod: 1, billingPeriodUnit: 'Day' }]) {
      expect((await validate(statement)).expiryDate).toBe(first.expiryDate);
    }
  });

  it.each<Platform>(['store_a', 'store_b', 'processor_a', 'service_processor_a'])(
    'follows a request of %s, and lies within a year without one',
    async (platform) => {
      const keys = await service.createApp([platform]);
      const stated = await (await buy(platform, keys, season))(months(2));
      expect(stated.expiryDate).toBe(addBillingPeriods(stated.purchaseDate, 'P2M'));
      const validate = await buy(platform, keys, season);
      const unstated = await validate();
      expect(unstated.expiryDate).toBe(addBillingPeriods(unstated.purchaseDate, 'P1Y'));
      // The first statement fills the gap.
      const { expiryDate } = await validate(months(1));
      expect(expiryDate).toBe(addBillingPeriods(unstated.purchaseDate, 'P1M'));
      expect((await validate(years(1))).expiryDate).toBe(expiryDate);
    },
  );

  it('follows a request of Braintree, which sells products of its catalogue only', async () => {
    const order = { platform: 'processor_b', productId: createUniqueName('product'), ...season };
    const { validate } = await service.callControl('/purchases', order);
    const keys = await service.createApp(['processor_b']);
    const { body } = await service.validate(keys, { ...validate, ...months(2) });
    const [purchase] = body.data.collection;
    expect(purchase.expiryDate).toBe(addBillingPeriods(purchase.purchaseDate, 'P2M'));
  });

  it.each<Platform>(['store_a', 'store_b', 'processor_a', 'service_processor_a'])(
    'is computed from the catalogue for %s, whatever a request states',
    async (platform) => {
      const keys = await service.createApp([platform]);
      const productId = createUniqueName('product');
      const catalogue = { [productId]: { type: 'non renewing subscription' as const, billingPeriod: 'P2Y' } };
      await storeCatalogue(getService(), keys.appName, catalogue);
      const validate = await buy(platform, keys, { ...season, productId });
      const { purchaseDate, expiryDate, purchaseId } = await validate(months(1));
      expect(expiryDate).toBe(addBillingPeriods(purchaseDate, 'P2Y'));
      const params = { purchaseId: withPlatform(platform, purchaseId) };
      const { body } = await callWithSecretKey(getPurchase, keys, { params });
      expect(Math.floor(Date.parse(body.expirationDate) / 1000)).toBe(Math.floor(expiryDate / 1000));
    },
  );
});
