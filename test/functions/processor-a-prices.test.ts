import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deps } from '../../lib/deps.ts';
import { openTestShop, type TestShop } from './checkout-fixture.ts';

let shop: TestShop;
beforeAll(async () => {
  shop = await openTestShop();
});
afterAll(() => shop.close());

const month = (price: string) => `processor_a:prod_basic#${price}`;

describe('GET prices', () => {
  it('lists active products with one offer a price, in neutral words', async () => {
    const { status, body } = await shop.ask('prices');
    expect(status).toBe(200);
    expect(body.products.map(({ id }: { id: string }) => id).sort()).toEqual(['prod_basic', 'prod_coins', 'prod_pro']);
    const sold = body.products.find(({ id }: { id: string }) => id === 'prod_basic');
    expect(sold).toMatchObject({
      type: 'paid subscription',
      title: 'The prod_basic',
      platform: 'processor_a',
      metadata: { supportLevel: 'email' },
    });
    expect(sold.offers).toContainEqual({
      id: month(shop.prices.basic),
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

  it('puts a free trial in front of the price that has one', async () => {
    const { body } = await shop.ask('prices');
    const offers = body.products.flatMap(({ offers }: { offers: { id: string; pricingPhases: object[] }[] }) => offers);
    const yearly = offers.find(({ id }: { id: string }) => id === month(shop.prices.yearly));
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

  it('offers what does not recur once, as a consumable', async () => {
    const { body } = await shop.ask('prices');
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

  it('speaks brand on the brand path', async () => {
    const { body } = await shop.ask('prices', {}, { brand: true });
    const sold = body.products.find(({ id }: { id: string }) => id === 'prod_coins');
    expect(sold).toMatchObject({
      id: 'prod_coins',
      platform: 'stripe',
      offers: [{ id: `stripe:prod_coins#${shop.prices.coins}`, productId: 'stripe:prod_coins', platform: 'stripe' }],
    });
  });

  it('asks the processor once in 5 minutes, and again after a change was told', async () => {
    const keys = await shop.createApp(['processor_a']);
    const titles = async () => {
      const { body } = await shop.ask('prices', {}, { keys });
      return body.products.map(({ id }: { id: string }) => id);
    };
    const before = await titles();
    const { id } = await shop.stripe.products.create({ name: 'Late' });
    await shop.stripe.prices.create({ product: id, unit_amount: 100, currency: 'usd' });
    expect(await titles()).toEqual(before);
    await deps().priceLists.invalidate(keys.appName, 'processor_a', deps().now());
    await shop.callControl('/clock', { advance: 'PT1S' });
    expect(await titles()).toContain(id);
  });
});
