import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { openTestShop, type TestShop, urls } from './checkout-fixture.ts';

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
    await callEndpoint(getCustomerPurchases, {
      headers: buildBasicAuth(shop.keys.appName, shop.keys.secretKey),
      params: { applicationUsername: user },
    })
  ).body.purchases;

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
    await shop.callControl(`/checkouts/${body.sessionId}/pay`, {});
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
    const press = async (action: string) =>
      await fetch(url, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' });
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
    await shop.callControl('/clock', { advance: 'P10D' });
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
    await shop.callControl('/clock', { advance: 'P4D' });
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
    const press = async (action: string) => {
      await fetch(body.url, {
        method: 'POST',
        body: new URLSearchParams({ action: `${action} ${subscription}` }),
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
