import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { deps } from '../../lib/deps.ts';
import { basic, call } from '../support/call.ts';
import { openTestShop, type TestShop, urls } from './processor-a-shop.ts';

let shop: TestShop;
beforeAll(async () => {
  shop = await openTestShop();
});
afterAll(() => shop.close());

let users = 0;
const newUser = () => `buyer-${++users}`;
const month = (price: string) => `processor_a:prod_basic#${price}`;
const purchasesOf = async (user: string) =>
  (
    await call(getCustomerPurchases, {
      headers: basic(shop.keys.app, shop.keys.secretKey),
      params: { applicationUsername: user },
    })
  ).body.purchases;

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
    const keys = await shop.app(['processor_a']);
    const titles = async () => {
      const { body } = await shop.ask('prices', {}, { keys });
      return body.products.map(({ id }: { id: string }) => id);
    };
    const before = await titles();
    const { id } = await shop.stripe.products.create({ name: 'Late' });
    await shop.stripe.prices.create({ product: id, unit_amount: 100, currency: 'usd' });
    expect(await titles()).toEqual(before);
    await deps().priceLists.drop(keys.app, 'processor_a', deps().now());
    await shop.control('/clock', { advance: 'PT1S' });
    expect(await titles()).toContain(id);
  });
});

describe('a checkout', () => {
  it('sells a subscription that is readable right after it was paid', async () => {
    const user = newUser();
    const { body } = await shop.ask('checkout', {
      offerId: month(shop.prices.basic),
      applicationUsername: user,
      ...urls,
    });
    expect(body).toMatchObject({
      ok: true,
      sessionId: expect.stringMatching(/^cs_/),
      accessToken: expect.stringMatching(/^ak_[A-Za-z0-9]{32}$/),
    });
    expect((await shop.ask('purchases', { accessToken: body.accessToken })).body).toEqual({ ok: true, purchases: [] });
    await shop.control(`/checkouts/${body.sessionId}/pay`, {});
    const { purchases } = (await shop.ask('purchases', { accessToken: body.accessToken })).body;
    expect(purchases).toMatchObject([
      {
        purchaseId: expect.stringMatching(/^processor_a:sub_/),
        productId: 'processor_a:prod_basic',
        offerId: month(shop.prices.basic),
        platform: 'processor_a',
        renewalIntent: 'Renew',
        isExpired: false,
        isTrialPeriod: false,
        amountMicros: 4_990_000,
        currency: 'USD',
      },
    ]);
    expect(await purchasesOf(user)).toHaveProperty('processor_a:prod_basic.isExpired', false);
  });

  it('sells on a page with Pay and Cancel, and comes back to the application', async () => {
    const { url, sessionId } = (
      await shop.ask('checkout', { offerId: month(shop.prices.coins).replace('basic', 'coins'), ...urls })
    ).body;
    expect(await (await fetch(url)).text()).toMatch(/Pay.*Cancel/s);
    const press = async (wish: string) =>
      await fetch(url, { method: 'POST', body: new URLSearchParams({ wish }), redirect: 'manual' });
    expect((await press('cancel')).headers.get('location')).toBe('https://app.example.com/#no');
    const paid = await press('pay');
    expect(paid.status).toBe(303);
    expect(paid.headers.get('location')).toBe(`https://app.example.com/#ok?id=${sessionId}`);
    expect((await shop.stripe.checkout.sessions.retrieve(sessionId)).payment_status).toBe('paid');
  });

  it.each(['processor_a:prod_coins#', 'stripe:prod_coins#', 'prod_coins#', ''])(
    'takes an offer that starts with "%s", and sells it once',
    async (prefix) => {
      const { accessToken } = await shop.buy(`${prefix}${shop.prices.coins}`);
      const { purchases } = (await shop.ask('purchases', { accessToken })).body;
      expect(purchases).toMatchObject([
        {
          purchaseId: expect.stringMatching(/^processor_a:pi_/),
          productId: 'processor_a:prod_coins',
          amountMicros: 1_500_000,
          quantity: 1,
        },
      ]);
      expect(purchases[0]).not.toHaveProperty('expirationDate');
    },
  );

  it('reuses the customer of an access token, whose trial is over', async () => {
    const first = await shop.buy(month(shop.prices.yearly), { applicationUsername: newUser() });
    expect(
      (await shop.ask('purchases', first.accessToken ? { accessToken: first.accessToken } : {})).body.purchases,
    ).toMatchObject([{ isTrialPeriod: true, amountMicros: 0 }]);
    const second = await shop.buy(`prod_coins#${shop.prices.coins}`, { accessToken: first.accessToken });
    const sessions = await Promise.all(
      [first, second].map(({ sessionId }) => shop.stripe.checkout.sessions.retrieve(sessionId)),
    );
    expect(sessions[1]?.customer).toBe(sessions[0]?.customer);
    expect((await shop.ask('purchases', { accessToken: second.accessToken })).body.purchases).toHaveLength(2);
    const third = await shop.buy(month(shop.prices.yearly), { accessToken: second.accessToken });
    const bought = (await shop.ask('purchases', { accessToken: third.accessToken })).body.purchases;
    expect(bought.map(({ isTrialPeriod = false }) => isTrialPeriod).sort()).toEqual([false, false, true]);
  });
});

describe('a plan', () => {
  it('changes at once with proration, by the token alone, and changes the token', async () => {
    const { accessToken } = await shop.buy(month(shop.prices.basic), { applicationUsername: newUser() });
    await shop.control('/clock', { advance: 'P10D' });
    const { body } = await shop.ask(
      'change-plan',
      { accessToken, offerId: `stripe:prod_pro#${shop.prices.pro}` },
      { brand: true },
    );
    expect(body).toMatchObject({
      ok: true,
      purchase: { productId: 'stripe:prod_pro', offerId: `stripe:prod_pro#${shop.prices.pro}` },
    });
    expect(body.purchase.amountMicros).toBeGreaterThan(0);
    expect(body.purchase.amountMicros).toBeLessThan(5_000_000);
    for (const token of [accessToken, body.newAccessToken]) {
      expect((await shop.ask('purchases', { accessToken: token })).status).toBe(200);
    }
    await shop.control('/clock', { advance: 'P4D' });
    expect((await shop.ask('purchases', { accessToken })).status).toBe(403);
    expect((await shop.ask('purchases', { accessToken: body.newAccessToken })).status).toBe(200);
  });

  it.each([
    ['the subscription', 'id', (id: string) => id],
    ['the subscription in neutral words', 'id', (id: string) => `processor_a:${id}`],
    ['the purchase in brand words', 'purchaseId', (id: string) => `stripe:${id}`],
  ])('changes %s', async (_what, field, named) => {
    const { accessToken, sessionId } = await shop.buy(month(shop.prices.basic));
    const { subscription } = await shop.stripe.checkout.sessions.retrieve(sessionId);
    const { body } = await shop.ask('change-plan', {
      accessToken,
      offerId: `prod_pro#${shop.prices.pro}`,
      [field]: named(String(subscription)),
    });
    expect(body).toMatchObject({
      ok: true,
      purchase: { purchaseId: `processor_a:${subscription}`, productId: 'processor_a:prod_pro' },
    });
  });
});

describe('the portal', () => {
  it('opens by the token alone, and lets the customer cancel and resume', async () => {
    const { accessToken, sessionId } = await shop.buy(month(shop.prices.basic));
    const { body } = await shop.ask('portal', { accessToken, returnUrl: 'https://app.example.com/' });
    expect(await (await fetch(body.url)).text()).toMatch(/prod_basic.*Cancel/s);
    const { subscription } = await shop.stripe.checkout.sessions.retrieve(sessionId);
    const press = async (wish: string) => {
      await fetch(body.url, {
        method: 'POST',
        body: new URLSearchParams({ wish: `${wish} ${subscription}` }),
        redirect: 'manual',
      });
      return (await shop.ask('purchases', { accessToken })).body.purchases[0].renewalIntent;
    };
    expect(await press('cancel')).toBe('Lapse');
    expect(await press('resume')).toBe('Renew');
  });

  it('opens for the session and for the subscription of the token', async () => {
    const { accessToken, sessionId } = await shop.buy(month(shop.prices.basic));
    const { subscription } = await shop.stripe.checkout.sessions.retrieve(sessionId);
    for (const id of [sessionId, `stripe:${subscription}`]) {
      const { body } = await shop.ask('portal', { accessToken, id, returnUrl: 'https://app.example.com/' });
      expect(body).toEqual({ ok: true, url: expect.stringContaining('/p/session/') });
    }
  });
});

describe('an access token', () => {
  it('is replaced when it is near its end, and the old one goes on for a while', async () => {
    const { accessToken } = await shop.buy(month(shop.prices.basic));
    await shop.control('/clock', { advance: 'P21D' });
    const { body } = await shop.ask('purchases', { accessToken });
    expect(body.newAccessToken).toMatch(/^ak_/);
    expect((await shop.ask('purchases', { accessToken })).status).toBe(200);
    await shop.control('/clock', { advance: 'P12D' });
    expect((await shop.ask('purchases', { accessToken })).status).toBe(403);
    expect((await shop.ask('purchases', { accessToken: body.newAccessToken })).status).toBe(200);
  });

  it('is kept as a digest only', async () => {
    const { accessToken, sessionId } = await shop.buy(month(shop.prices.basic));
    const digest = createHash('sha256').update(accessToken).digest('hex');
    const item = await deps().table.get({ pk: `${shop.keys.app}#A#${digest}`, sk: 'A' });
    expect(item).toMatchObject({ session: sessionId, platform: 'processor_a' });
    expect(JSON.stringify(item)).not.toContain(accessToken);
  });

  it('gives way to the secret key, with which a user is named', async () => {
    const user = newUser();
    const { accessToken } = await shop.buy(month(shop.prices.basic), { applicationUsername: user });
    await shop.ask('purchases', { accessToken });
    const secret = { ...shop.keys, publicKey: shop.keys.secretKey };
    const { body } = await shop.ask('purchases', { applicationUsername: user }, { keys: secret });
    expect(body.purchases).toMatchObject([{ productId: 'processor_a:prod_basic' }]);
  });
});
