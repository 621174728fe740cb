import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCheckout, getProcessorPurchases } from '../../lib/checkout/contract.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { listEventsByTags } from '../../lib/events/event-table.ts';
import { getService } from '../../lib/foundation/container.ts';
import { eventKey } from '../../lib/foundation/keys.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { formatItem } from '../../testing/dump-items.ts';
import { createUniqueName } from '../../testing/given.ts';
import {
  type CheckoutFixture,
  checkoutUrls,
  expectCheckoutError,
  startCheckoutFixture,
  toBasicOffer,
} from './checkout-fixture.ts';

let checkout: CheckoutFixture;
beforeAll(async () => {
  checkout = await startCheckoutFixture();
});
afterAll(() => checkout.close());

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
    const offerId = `processor_a:prod_coins#${checkout.prices.coins}`;
    const { url, sessionId } = (await checkout.call(createCheckout, { offerId, ...checkoutUrls })).body;
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
    ['successUrl', { successUrl: 'not an address' }],
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
