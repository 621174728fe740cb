import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { errorCodes } from '../../lib/foundation/errors.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['processor_b']);
});
afterAll(() => service.close());

/** Pays an order as cordova-plugin-purchase does: with the first item and the total. */
async function pay(order: object, changes: object = {}) {
  const { validate } = await service.callControl('/purchases', {
    platform: 'processor_b',
    type: 'consumable',
    applicationUsername: createUniqueName('user'),
    form: 'brand',
    ...order,
  });
  return (await service.validate(keys, { ...validate, products: [], ...changes })).body;
}

/** Pays an order and returns the recorded purchases. */
async function buy(order: object) {
  const { data } = await pay(order);
  const purchases = data.collection.map(async ({ purchaseId }: { readonly purchaseId: string }) => {
    const params = { purchaseId: `processor_b:${purchaseId}` };
    return (await callWithSecretKey(getPurchase, keys, { params })).body;
  });
  return await Promise.all(purchases);
}

const rejected = { ok: false, code: errorCodes.InvalidPayload.number, message: expect.stringMatching(/catalogue/) };

describe('POST /v1/validate (Braintree amounts)', () => {
  it.each([1_000_000, 7_770_000, 500_000_000])('sells a donation of %d micros', async (amountMicros) => {
    expect(await buy({ productId: 'donation', amountMicros })).toMatchObject([
      { productId: 'processor_b:donation', amountMicros, currency: 'USD' },
    ]);
  });

  it.each([
    ['less than the minimum', { priceMicros: 990_000 }],
    ['more than the maximum', { priceMicros: 500_010_000 }],
    ['a fraction of a cent', { priceMicros: 1_005_000 }],
    ['another currency', { currency: 'EUR' }],
    ['no amount', { priceMicros: undefined }],
  ])('rejects a donation with %s', async (_case, changes) => {
    expect(await pay({ productId: 'donation', amountMicros: 10_000_000 }, changes)).toMatchObject(rejected);
  });

  it('sells a cart for the sum of its items, each as a purchase', async () => {
    const purchases = await buy({ productId: 'tip_jar', items: ['coins', 'coins', 'full_version'] });
    const amounts = purchases.map(({ productId, amountMicros }) => [productId, amountMicros]);
    expect(Object.fromEntries(amounts)).toEqual({
      'processor_b:tip_jar': 4_990_000,
      'processor_b:coins': 1_980_000,
      'processor_b:full_version': 19_990_000,
    });
  });

  it.each([
    ['less than the sum', 5_970_000],
    ['the price of the other item only', 990_000],
    ['an amount that no items have', 5_000_000],
  ])('rejects a cart with %s', async (_case, priceMicros) => {
    expect(await pay({ productId: 'tip_jar', items: ['coins'] }, { priceMicros })).toMatchObject(rejected);
  });

  it('rejects a product at the price of a donation', async () => {
    expect(await pay({ productId: 'full_version' }, { priceMicros: 10_000_000 })).toMatchObject(rejected);
  });
});
