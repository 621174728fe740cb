import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getPrices } from '../../lib/checkout/contract.ts';
import { getService } from '../../lib/foundation/container.ts';
import { invalidatePriceList } from '../../lib/purchases/price-list-table.ts';
import { type CheckoutFixture, expectCheckoutError, startCheckoutFixture, toBasicOffer } from './checkout-fixture.ts';

let checkout: CheckoutFixture;
beforeAll(async () => {
  checkout = await startCheckoutFixture();
});
afterAll(() => checkout.close());

describe('GET /v3/processor_a/prices', () => {
  it('returns the active products with one offer per price, with neutral ids', async () => {
    const { status, body } = await checkout.call(getPrices);
    expect(status).toBe(200);
    expect(body.products.map(({ id }: { id: string }) => id).sort()).toEqual(['prod_basic', 'prod_coins', 'prod_pro']);
    const product = body.products.find(({ id }: { id: string }) => id === 'prod_basic');
    expect(product).toMatchObject({
      type: 'paid subscription',
      title: 'The prod_basic',
      platform: 'processor_a',
      metadata: { supportLevel: 'email' },
    });
    expect(product.offers).toContainEqual({
      id: toBasicOffer(checkout.prices.basic),
      productId: 'processor_a:prod_basic',
      productType: 'paid subscription',
      platform: 'processor_a',
      offerType: 'Subscription',
      pricingPhases: [
        {
          priceMicros: 4_990_000,
          currency: 'USD',
          billingPeriod: 'P1M',
          recurrenceMode: 'INFINITE_RECURRING',
          paymentMode: 'PayAsYouGo',
        },
      ],
    });
  });

  it('returns a free trial as the first pricing phase of its offer', async () => {
    const { body } = await checkout.call(getPrices);
    const offers = body.products.flatMap(({ offers }: { offers: { id: string; pricingPhases: object[] }[] }) => offers);
    const yearly = offers.find(({ id }: { id: string }) => id === toBasicOffer(checkout.prices.yearly));
    expect(yearly.pricingPhases).toEqual([
      {
        priceMicros: 0,
        currency: 'USD',
        billingPeriod: 'P14D',
        recurrenceMode: 'FINITE_RECURRING',
        paymentMode: 'FreeTrial',
      },
      {
        priceMicros: 49_990_000,
        currency: 'USD',
        billingPeriod: 'P1Y',
        recurrenceMode: 'INFINITE_RECURRING',
        paymentMode: 'PayAsYouGo',
      },
    ]);
  });

  it('returns a price without recurrence as the offer of a consumable', async () => {
    const { body } = await checkout.call(getPrices);
    const coins = body.products.find(({ id }: { id: string }) => id === 'prod_coins');
    expect(coins).toMatchObject({ type: 'consumable' });
    expect(coins.offers).toMatchObject([
      {
        offerType: 'Default',
        pricingPhases: [
          { priceMicros: 1_500_000, currency: 'USD', recurrenceMode: 'NON_RECURRING', paymentMode: 'UpFront' },
        ],
      },
    ]);
  });

  it('returns brand ids on the brand path', async () => {
    const { body } = await checkout.call(getPrices, {}, { usesBrandPath: true });
    const product = body.products.find(({ id }: { id: string }) => id === 'prod_coins');
    expect(product).toMatchObject({
      id: 'prod_coins',
      platform: 'stripe',
      offers: [
        { id: `stripe:prod_coins#${checkout.prices.coins}`, productId: 'stripe:prod_coins', platform: 'stripe' },
      ],
    });
  });

  it('caches the list, and queries Stripe again after the list was invalidated', async () => {
    const keys = await checkout.createApp(['processor_a']);
    const listProductIds = async () => {
      const { body } = await checkout.call(getPrices, {}, { keys });
      return body.products.map(({ id }: { id: string }) => id);
    };
    const idsBefore = await listProductIds();
    const { id } = await checkout.stripe.products.create({ name: 'Late' });
    await checkout.stripe.prices.create({ product: id, unit_amount: 100, currency: 'usd' });
    expect(await listProductIds()).toEqual(idsBefore);
    await invalidatePriceList(getService(), keys.appName, 'processor_a', getService().now());
    await checkout.callControl('/clock', { advance: 'PT1S' });
    expect(await listProductIds()).toContain(id);
  });

  it('rejects a Stripe key that Stripe rejects as an error of the settings', async () => {
    const keys = await checkout.createApp(['processor_a'], { secretKey: 'sk_live_somebody_else' });
    expectCheckoutError(await checkout.call(getPrices, {}, { keys }), 500, /^Stripe rejected the settings: /);
  });

  it('rejects an app without settings of Stripe', async () => {
    const keys = await checkout.createApp([]);
    expectCheckoutError(await checkout.call(getPrices, {}, { keys }), 500, /^The app has no processor_a settings/);
  });
});
