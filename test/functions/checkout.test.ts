import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { createApiKey } from '../../lib/apps/manage-apps.ts';
import {
  changePlan,
  createCheckout,
  createPortal,
  getPrices,
  getProcessorPurchases,
} from '../../lib/checkout/contract.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { listEventsByTags } from '../../lib/events/event-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { eventKey } from '../../lib/foundation/keys.ts';
import { invalidatePriceList } from '../../lib/purchases/price-list-table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { formatItem } from '../../testing/dump-items.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { checkoutUrls, expectCheckoutError, startCheckoutFixture, toBasicOffer } from './checkout-fixture.ts';

const checkout = startBeforeAll(startCheckoutFixture);
afterEach(() => checkout.clearFaults());

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

const listPurchases = async (accessToken: string) =>
  (await checkout.call(getProcessorPurchases, { accessToken })).body.purchases;

describe('POST /v3/processor_a/checkout', () => {
  it('sells a subscription that is readable right after the payment', async () => {
    const applicationUsername = createUniqueName('user');
    const offerId = toBasicOffer(checkout.prices.basic);
    const { body } = await checkout.call(createCheckout, { offerId, applicationUsername, ...checkoutUrls });
    expect(body).toMatchObject({
      ok: true,
      sessionId: expect.stringMatching(/^cs_/),
      accessToken: expect.stringMatching(/^ak_[A-Za-z0-9]{32}$/),
    });
    const { accessToken } = body;
    expect((await checkout.call(getProcessorPurchases, { accessToken })).body).toEqual({ ok: true, purchases: [] });
    await checkout.callControl(`/checkouts/${body.sessionId}/pay`, {});
    expect(await listPurchases(accessToken)).toMatchObject([
      {
        purchaseId: expect.stringMatching(/^processor_a:sub_/),
        productId: 'processor_a:prod_basic',
        offerId,
        platform: 'processor_a',
        renewalIntent: 'Renew',
        isExpired: false,
        isTrialPeriod: false,
        amountMicros: 4_990_000,
        currency: 'USD',
      },
    ]);
    const customer = await callWithSecretKey(getCustomerPurchases, checkout.keys, { params: { applicationUsername } });
    expect(customer.body.purchases).toHaveProperty('processor_a:prod_basic.isExpired', false);
  });

  it('returns the URL of a page that redirects to the app after payment and after cancelation', async () => {
    const _offerId = `processor_a:prod_coins#${checkout.prices.coins}`;
    const { url, sessionId } = (
      await checkout.call(createCheckout, { offerId: toBasicOffer(checkout.prices.basic), ...checkoutUrls })
    ).body;
    expect(await (await fetch(url)).text()).toMatch(/Pay.*Cancel/s);
    const press = async (action: string) =>
      await fetch(url, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' });
    expect((await press('cancel')).headers.get('location')).toBe('https://app.example.com/#no');
    const paid = await press('pay');
    expect(paid.status).toBe(303);
    expect(paid.headers.get('location')).toBe(`https://app.example.com/#ok?id=${sessionId}`);
    expect((await checkout.stripe.checkout.sessions.retrieve(sessionId)).payment_status).toBe('paid');
  });

  it.each(['processor_a:prod_coins#', 'stripe:prod_coins#', 'prod_coins#', ''])(
    'accepts an offer with the prefix "%s" and sells it once',
    async (prefix) => {
      const { accessToken } = await checkout.buy(`${prefix}${checkout.prices.coins}`);
      const purchases = await listPurchases(accessToken);
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

  it('reuses the Stripe customer of an access token and grants its trial only once', async () => {
    const yearlyOffer = toBasicOffer(checkout.prices.yearly);
    const first = await checkout.buy(yearlyOffer, { applicationUsername: createUniqueName('user') });
    expect(await listPurchases(first.accessToken)).toMatchObject([{ isTrialPeriod: true, amountMicros: 0 }]);
    const second = await checkout.buy(`prod_coins#${checkout.prices.coins}`, { accessToken: first.accessToken });
    const sessions = await Promise.all(
      [first, second].map(({ sessionId }) => checkout.stripe.checkout.sessions.retrieve(sessionId)),
    );
    expect(sessions[1]?.customer).toBe(sessions[0]?.customer);
    expect(await listPurchases(second.accessToken)).toHaveLength(2);
    const third = await checkout.buy(yearlyOffer, { accessToken: second.accessToken });
    const purchases: { isTrialPeriod?: boolean }[] = await listPurchases(third.accessToken);
    expect(purchases.map(({ isTrialPeriod = false }) => isTrialPeriod).sort()).toEqual([false, false, true]);
  });

  it.each<[string, (issued: string) => string | Promise<string>]>([
    ['an unknown token', () => `ak_${'A'.repeat(32)}`],
    ['a token in another format', () => 'at_d742aeba-26f1-400a-b85e-c017c565ceac'],
    ['a long text', () => 'x'.repeat(3_000)],
    [
      'an expired token',
      async (issued) => {
        await checkout.callControl('/clock', { advance: 'P31D' });
        return issued;
      },
    ],
  ])('sells to a client that sends %s', async (_description, getToken) => {
    const offerId = `prod_coins#${checkout.prices.coins}`;
    const { accessToken: issued } = await checkout.buy(offerId);
    const { accessToken, sessionId } = await checkout.buy(offerId, { accessToken: await getToken(issued) });
    expect((await checkout.stripe.checkout.sessions.retrieve(sessionId)).status).toBe('complete');
    expect(await listPurchases(accessToken)).toHaveLength(1);
  });

  it("sells to a client that sends another app's token as a new customer", async () => {
    const offerId = `prod_coins#${checkout.prices.coins}`;
    const { accessToken: foreignToken } = await checkout.buy(offerId);
    const keys = await checkout.createApp(['processor_a']);
    const input = { offerId, ...checkoutUrls, accessToken: foreignToken };
    const { body } = await checkout.call(createCheckout, input, { keys });
    expect((await checkout.stripe.checkout.sessions.retrieve(body.sessionId)).customer).toBeNull();
  });

  it.each([
    ['offerId', { offerId: undefined }],
    ['successUrl', { successUrl: undefined }],
    ['successUrl: expected a URL with its scheme', { successUrl: 'not an address' }],
    ['cancelUrl', { cancelUrl: undefined }],
    ['mode', { mode: 'donation' }],
    ['applicationUsername', { applicationUsername: 'x'.repeat(501) }],
  ])('rejects a missing or invalid %s: %j', async (field, change) => {
    const input = { offerId: toBasicOffer(checkout.prices.basic), ...checkoutUrls, ...change };
    expectCheckoutError(await checkout.call(createCheckout, input), 400, new RegExp(field));
  });

  it.each<[string, (priceId: string) => object]>([
    ['a price that does not exist', () => ({ offerId: 'prod_basic#price_none' })],
    ['a price of another product', (priceId) => ({ offerId: `prod_pro#${priceId}` })],
    ['an offer without a price', () => ({ offerId: 'processor_a:#' })],
    ['a single payment for a subscription', (priceId) => ({ offerId: `prod_basic#${priceId}`, mode: 'payment' })],
  ])('rejects %s', async (_description, buildInput) => {
    const input = { ...buildInput(checkout.prices.basic), ...checkoutUrls };
    expectCheckoutError(await checkout.call(createCheckout, input), 400, /offer|Stripe/);
  });

  it("rejects another app's product", async () => {
    const { data } = await checkout.stripe.prices.list({ product: 'prod_foreign' });
    const input = { offerId: `prod_foreign#${data[0]?.id}`, ...checkoutUrls };
    expectCheckoutError(await checkout.call(createCheckout, input), 400, /not an active offer/);
  });

  it('records an event without access token, URL and API key', async () => {
    const applicationUsername = createUniqueName('user');
    const { accessToken, url } = await checkout.buy(toBasicOffer(checkout.prices.basic), { applicationUsername });
    const { appName, publicKey } = checkout.keys;
    const events = await listEventsByTags(getService(), appName, [applicationUsername], 10);
    expect(events.map(({ type }) => type)).toContain('checkout.created');
    const items = await Promise.all(
      events.map(async ({ eventId }) => formatItem((await getService().table.get(eventKey(appName, eventId))) ?? {})),
    );
    expect(items.join()).toContain('checkout');
    for (const secret of [accessToken, url, publicKey]) expect(items.join()).not.toContain(secret);
  });
});

const buyBasicPlan = async (fields: object = {}) => await checkout.buy(toBasicOffer(checkout.prices.basic), fields);

describe('POST /v3/processor_a/change-plan', () => {
  it('changes the plan with proration by the access token alone, and replaces the token', async () => {
    const { accessToken } = await buyBasicPlan({ applicationUsername: createUniqueName('user') });
    await checkout.callControl('/clock', { advance: 'P10D' });
    const offerId = `stripe:prod_pro#${checkout.prices.pro}`;
    const { body } = await checkout.call(changePlan, { accessToken, offerId }, { usesBrandPath: true });
    expect(body).toMatchObject({ ok: true, purchase: { productId: 'stripe:prod_pro', offerId } });
    expect(body.purchase.amountMicros).toBeGreaterThan(0);
    expect(body.purchase.amountMicros).toBeLessThan(5_000_000);
    const readWith = async (token: string) =>
      (await checkout.call(getProcessorPurchases, { accessToken: token })).status;
    expect([await readWith(accessToken), await readWith(body.newAccessToken)]).toEqual([200, 200]);
    await checkout.callControl('/clock', { advance: 'P4D' });
    expect([await readWith(accessToken), await readWith(body.newAccessToken)]).toEqual([403, 200]);
  });

  it.each<[string, string, (id: string) => string]>([
    ['a Stripe subscription id', 'id', (id) => id],
    ['a neutral subscription id', 'id', (id) => `processor_a:${id}`],
    ['a brand purchase id', 'purchaseId', (id) => `stripe:${id}`],
  ])('accepts %s', async (_description, field, toId) => {
    const { accessToken, sessionId } = await buyBasicPlan();
    const { subscription } = await checkout.stripe.checkout.sessions.retrieve(sessionId);
    const { body } = await checkout.call(changePlan, {
      accessToken,
      offerId: `prod_pro#${checkout.prices.pro}`,
      [field]: toId(String(subscription)),
    });
    expect(body).toMatchObject({
      ok: true,
      purchase: { purchaseId: `processor_a:${subscription}`, productId: 'processor_a:prod_pro' },
    });
  });

  it.each([
    ['accessToken', {}],
    ['offerId', { accessToken: `ak_${'A'.repeat(32)}` }],
  ])('rejects a missing %s', async (field, input) => {
    expectCheckoutError(await checkout.call(changePlan, input), 400, new RegExp(field));
  });

  it('rejects an offer that is not a subscription, and a subscription that has ended', async () => {
    const { accessToken, sessionId } = await buyBasicPlan();
    const changeTo = async (offerId: string) => await checkout.call(changePlan, { accessToken, offerId });
    expectCheckoutError(await changeTo(checkout.prices.coins), 400, /offer of a subscription/);
    const { subscription } = await checkout.stripe.checkout.sessions.retrieve(sessionId);
    await checkout.stripe.subscriptions.cancel(String(subscription));
    expectCheckoutError(await changeTo(checkout.prices.pro), 400, /active subscription is not found/);
  });

  it('rejects a checkout that is not paid yet', async () => {
    const offerId = toBasicOffer(checkout.prices.basic);
    const { accessToken } = (
      await checkout.call(createCheckout, { offerId: toBasicOffer(checkout.prices.basic), ...checkoutUrls })
    ).body;
    const response = await checkout.call(changePlan, { accessToken, offerId });
    expectCheckoutError(response, 400, /does not have a purchase yet/);
  });
});

const returnUrl = 'https://app.example.com/';

describe('POST /v3/processor_a/portal', () => {
  it('opens by the access token alone a page on which the customer cancels and resumes', async () => {
    const { accessToken, sessionId } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    const { body } = await checkout.call(createPortal, { accessToken, returnUrl });
    expect(await (await fetch(body.url)).text()).toMatch(/prod_basic.*Cancel/s);
    const { subscription } = await checkout.stripe.checkout.sessions.retrieve(sessionId);
    const press = async (action: string) => {
      const form = new URLSearchParams({ action: `${action} ${subscription}` });
      await fetch(body.url, { method: 'POST', body: form, redirect: 'manual' });
      return (await checkout.call(getProcessorPurchases, { accessToken })).body.purchases[0].renewalIntent;
    };
    expect(await press('cancel')).toBe('Lapse');
    expect(await press('resume')).toBe('Renew');
  });

  it('accepts the session id and the subscription id of the access token', async () => {
    const { accessToken, sessionId } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    const { subscription } = await checkout.stripe.checkout.sessions.retrieve(sessionId);
    for (const id of [sessionId, `stripe:${subscription}`]) {
      const { body } = await checkout.call(createPortal, { accessToken, id, returnUrl });
      expect(body).toEqual({ ok: true, url: expect.stringContaining('/p/session/') });
    }
  });

  it.each([
    ['accessToken', { returnUrl }],
    ['returnUrl', { accessToken: `ak_${'A'.repeat(32)}` }],
  ])('rejects a missing %s', async (field, input) => {
    expectCheckoutError(await checkout.call(createPortal, input), 400, new RegExp(field));
  });

  it('rejects a checkout that is not paid yet', async () => {
    const input = { offerId: toBasicOffer(checkout.prices.basic), ...checkoutUrls };
    const { accessToken } = (await checkout.call(createCheckout, input)).body;
    const response = await checkout.call(createPortal, { accessToken, returnUrl });
    expectCheckoutError(response, 400, /does not have a purchase yet/);
  });
});

const invalidToken = /^Invalid access token$/;

/** Every call that requires an access token. */
const listTokenCalls = (accessToken: string): readonly (readonly [Contract, object])[] => [
  [changePlan, { offerId: toBasicOffer(checkout.prices.basic), accessToken }],
  [createPortal, { returnUrl, accessToken }],
  [getProcessorPurchases, { accessToken }],
];

describe('processor_a endpoints with an access token', () => {
  it.each([
    ['an unknown token', () => `ak_${'A'.repeat(32)}`],
    ['a token in another format', () => 'at_d742aeba-26f1-400a-b85e-c017c565ceac'],
    ['an API key', () => checkout.keys.publicKey],
  ])('reject %s', async (_description, getToken) => {
    for (const [contract, input] of listTokenCalls(getToken()))
      expectCheckoutError(await checkout.call(contract, input), 403, invalidToken);
  });

  it("reject another app's token", async () => {
    const { accessToken } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    const keys = await checkout.createApp(['processor_a']);
    for (const [contract, input] of listTokenCalls(accessToken))
      expectCheckoutError(await checkout.call(contract, input, { keys }), 403, invalidToken);
  });

  it('reject an expired token', async () => {
    const { accessToken } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    await checkout.callControl('/clock', { advance: 'P31D' });
    for (const [contract, input] of listTokenCalls(accessToken))
      expectCheckoutError(await checkout.call(contract, input), 403, invalidToken);
  });

  it('reject a token with the id of a different purchase', async () => {
    const { accessToken } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    const { sessionId } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    const { subscription } = await checkout.stripe.checkout.sessions.retrieve(sessionId);
    for (const id of [sessionId, String(subscription), 'price_1']) {
      expectCheckoutError(await checkout.call(createPortal, { id, returnUrl, accessToken }), 403, invalidToken);
      expectCheckoutError(
        await checkout.call(changePlan, { id, offerId: toBasicOffer(checkout.prices.basic), accessToken }),
        403,
        invalidToken,
      );
    }
  });
});

describe('endpoints of Stripe', () => {
  it('report Stripe as unavailable', async () => {
    const { accessToken } = await checkout.buy(toBasicOffer(checkout.prices.basic));
    // Its own app: the price list of the other app is cached.
    const keys = await checkout.createApp(['processor_a']);
    await checkout.callControl('/faults', { platform: 'processor_a', fault: 'down', times: 20 });
    const unavailable = /^Stripe is unavailable/;
    expectCheckoutError(await checkout.call(getPrices, {}, { keys }), 502, unavailable);
    expectCheckoutError(
      await checkout.call(createCheckout, { offerId: toBasicOffer(checkout.prices.basic), ...checkoutUrls }),
      502,
      unavailable,
    );
    expectCheckoutError(await checkout.call(getProcessorPurchases, { accessToken }), 502, unavailable);
  });
});

describe('GET /v3/processor_a/purchases', () => {
  it('replaces an access token near its end, and accepts the old token for an overlap', async () => {
    const { accessToken } = await buyBasicPlan();
    const read = async (token: string) => await checkout.call(getProcessorPurchases, { accessToken: token });
    await checkout.callControl('/clock', { advance: 'P21D' });
    const { newAccessToken } = (await read(accessToken)).body;
    expect(newAccessToken).toMatch(/^ak_/);
    expect((await read(accessToken)).status).toBe(200);
    await checkout.callControl('/clock', { advance: 'P12D' });
    expect((await read(accessToken)).status).toBe(403);
    expect((await read(newAccessToken)).status).toBe(200);
  });

  it('stores an access token as a digest only', async () => {
    const { accessToken, sessionId } = await buyBasicPlan();
    const digest = createHash('sha256').update(accessToken).digest('hex');
    const item = await getService().table.get({ pk: `${checkout.keys.appName}#A#${digest}`, sk: 'A' });
    expect(item).toMatchObject({ session: sessionId, platform: 'processor_a' });
    expect(JSON.stringify(item)).not.toContain(accessToken);
  });

  it('returns the purchases of a customer to the secret key without an access token', async () => {
    const applicationUsername = createUniqueName('user');
    const { accessToken } = await buyBasicPlan({ applicationUsername });
    await checkout.call(getProcessorPurchases, { accessToken });
    const keys = { ...checkout.keys, publicKey: checkout.keys.secretKey };
    const { body } = await checkout.call(getProcessorPurchases, { applicationUsername }, { keys });
    expect(body.purchases).toMatchObject([{ productId: 'processor_a:prod_basic' }]);
  });

  it('rejects an access token with a viewer key, and changes nothing', async () => {
    const applicationUsername = createUniqueName('user');
    const { accessToken } = await buyBasicPlan({ applicationUsername });
    const { appName } = checkout.keys;
    const { key } = await createApiKey(getService(), appName, {
      level: 'viewer',
      name: 'support',
      now: getService().now(),
    });
    const keys = { ...checkout.keys, publicKey: key };
    // The token is about to be rotated.
    await checkout.callControl('/clock', { advance: 'P21D' });
    const withToken = await checkout.call(getProcessorPurchases, { accessToken, applicationUsername }, { keys });
    expectCheckoutError(withToken, 403, /A viewer key can only read/);
    const read = async () => (await checkout.call(getProcessorPurchases, { applicationUsername }, { keys })).body;
    expect(await read()).toEqual({ ok: true, purchases: [] });
    await checkout.call(getProcessorPurchases, { accessToken });
    expect((await read()).purchases).toMatchObject([{ productId: 'processor_a:prod_basic' }]);
  });

  it('rejects the public key without an access token, even with a username', async () => {
    const response = await checkout.call(getProcessorPurchases, { applicationUsername: 'ann' });
    expectCheckoutError(response, 400, /accessToken/);
  });
});
