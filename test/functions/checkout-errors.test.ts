import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { getProcessorPurchases } from '../../lib/api/processor-a.ts';
import { deps } from '../../lib/deps.ts';
import { type CallResult, callEndpoint } from '../../testing/call.ts';
import { openTestShop, type TestShop, urls } from './checkout-fixture.ts';

let shop: TestShop;
let token: string;
let offerId: string;
beforeAll(async () => {
  shop = await openTestShop();
  offerId = `processor_a:prod_basic#${shop.prices.basic}`;
  token = (await shop.buy(offerId)).accessToken;
});
afterEach(async () => {
  await fetch(`${shop.emulatorUrl}/control/faults`, { method: 'DELETE' });
});
afterAll(() => shop.close());

const unknownToken = `ak_${'A'.repeat(32)}`;
const returnUrl = 'https://app.example.com/';

function expectRefusal({ status, body }: CallResult, expected: number, message: RegExp): void {
  expect({ status, body }).toMatchObject({ status: expected, body: { ok: false, status: expected, code: 6778003 } });
  expect(body.message).toMatch(message);
}

describe('a missing or wrong field is answered with 400', () => {
  it.each([
    ['checkout', 'offerId', {}],
    ['checkout', 'successUrl', { successUrl: undefined }],
    ['checkout', 'successUrl', { successUrl: 'not an address' }],
    ['checkout', 'cancelUrl', { cancelUrl: undefined }],
    ['checkout', 'mode', { mode: 'donation' }],
    ['checkout', 'applicationUsername', { applicationUsername: 'x'.repeat(501) }],
    ['change-plan', 'accessToken', {}],
    ['change-plan', 'offerId', { accessToken: unknownToken }],
    ['portal', 'accessToken', { returnUrl }],
    ['portal', 'returnUrl', { accessToken: unknownToken }],
    ['purchases', 'accessToken', {}],
  ] as const)('%s: %s', async (what, field, change) => {
    const rest = what === 'checkout' && field !== 'offerId' ? { offerId, ...urls } : {};
    expectRefusal(await shop.ask(what, { ...rest, ...change }), 400, new RegExp(field));
  });

  it.each([
    ['a price that does not exist', 'prod_basic#price_none', {}],
    ['a price of another product', 'prod_pro#', {}],
    ['no price at all', 'processor_a:#', {}],
    ['one payment for what recurs', 'prod_basic#', { mode: 'payment' }],
  ])('checkout of %s', async (_what, offer, more) => {
    const named = offer === 'prod_basic#' || offer === 'prod_pro#' ? offer + shop.prices.basic : offer;
    expectRefusal(await shop.ask('checkout', { offerId: named, ...urls, ...more }), 400, /offer|Stripe/);
  });

  it('checkout of what belongs to another application', async () => {
    const { data } = await shop.stripe.prices.list({ product: 'prod_foreign' });
    expectRefusal(
      await shop.ask('checkout', { offerId: `prod_foreign#${data[0]?.id}`, ...urls }),
      400,
      /not an active offer/,
    );
  });

  it('a change to what is no subscription, or of what has ended', async () => {
    const bought = await shop.buy(offerId);
    const change = async (price: string) =>
      await shop.ask('change-plan', { accessToken: bought.accessToken, offerId: price });
    expectRefusal(await change(shop.prices.coins), 400, /offer of a subscription/);
    const { subscription } = await shop.stripe.checkout.sessions.retrieve(bought.sessionId);
    await shop.stripe.subscriptions.cancel(String(subscription));
    expectRefusal(await change(shop.prices.pro), 400, /active subscription is not found/);
  });

  it('a portal or a change before anything was paid', async () => {
    const { accessToken } = (await shop.ask('checkout', { offerId, ...urls })).body;
    expectRefusal(await shop.ask('portal', { accessToken, returnUrl }), 400, /does not have a purchase yet/);
    expectRefusal(await shop.ask('change-plan', { accessToken, offerId }), 400, /does not have a purchase yet/);
  });
});

describe('a token that is not good is answered with 403 and the words that clients look for', () => {
  const calls = (accessToken: string) =>
    [
      ['checkout', { offerId, ...urls, accessToken }],
      ['change-plan', { offerId, accessToken }],
      ['portal', { returnUrl, accessToken }],
      ['purchases', { accessToken }],
    ] as const;

  it.each([
    ['an unknown token', () => unknownToken],
    ['a token of another form', () => 'at_d742aeba-26f1-400a-b85e-c017c565ceac'],
    ['an API key', () => shop.keys.publicKey],
  ])('%s', async (_what, given) => {
    for (const [what, sent] of calls(given())) expectRefusal(await shop.ask(what, sent), 403, /^Invalid access token$/);
  });

  it("another application's token", async () => {
    const keys = await shop.createApp(['processor_a']);
    for (const [what, sent] of calls(token))
      expectRefusal(await shop.ask(what, sent, { keys }), 403, /^Invalid access token$/);
  });

  it('a token that has ended', async () => {
    const { accessToken } = await shop.buy(offerId);
    await shop.callControl('/clock', { advance: 'P31D' });
    for (const [what, sent] of calls(accessToken))
      expectRefusal(await shop.ask(what, sent), 403, /^Invalid access token$/);
    token = (await shop.buy(offerId)).accessToken;
  });

  it("an id that is not the token's", async () => {
    const other = await shop.buy(offerId);
    const { subscription } = await shop.stripe.checkout.sessions.retrieve(other.sessionId);
    for (const id of [other.sessionId, String(subscription), 'price_1']) {
      expectRefusal(await shop.ask('portal', { id, returnUrl, accessToken: token }), 403, /^Invalid access token$/);
      expectRefusal(await shop.ask('change-plan', { id, offerId, accessToken: token }), 403, /^Invalid access token$/);
    }
  });
});

describe('a processor that does not answer well', () => {
  it.each([
    ['down', 'down'],
    ['rate-limited', 'rate-limited'],
    ['answering HTML', 'html'],
    ['cutting the connection', 'cut'],
  ])('%s is answered with 502', async (_what, fault) => {
    await shop.callControl('/faults', { platform: 'processor_a', fault, times: 20 });
    const keys = await shop.createApp(['processor_a']);
    expectRefusal(await shop.ask('prices', {}, { keys }), 502, /^Stripe is unavailable/);
    expectRefusal(await shop.ask('checkout', { offerId, ...urls }), 502, /^Stripe is unavailable/);
    expectRefusal(await shop.ask('purchases', { accessToken: token }), 502, /^Stripe is unavailable/);
  });

  it('refusing the key is a configuration error', async () => {
    const keys = await shop.createApp(['processor_a'], { secretKey: 'sk_live_somebody_else' });
    expectRefusal(await shop.ask('prices', {}, { keys }), 500, /^Stripe rejected the settings: /);
  });

  it('not being configured is a configuration error', async () => {
    const keys = await shop.createApp([]);
    expectRefusal(await shop.ask('prices', {}, { keys }), 500, /^The app has no processor_a settings/);
  });
});

it('answers the public key without a token with 400, even when it names a user', async () => {
  const response = await shop.ask('purchases', { applicationUsername: 'somebody' });
  expectRefusal(response, 400, /accessToken/);
});

it('answers without an API key with 401', async () => {
  expectRefusal(await callEndpoint(getProcessorPurchases, { query: { accessToken: token } }), 401, /[Cc]redentials/);
});

it('records no token, key or address in the event', async () => {
  const user = 'recorded-buyer';
  const { accessToken, url } = await shop.buy(offerId, { applicationUsername: user });
  const events = await deps().events.listByTags(shop.keys.appName, [user], 10);
  expect(events.map(({ type }) => type)).toContain('checkout.created');
  const rows = await Promise.all(
    events.map(async ({ eventId }) => await deps().table.query({ partition: `${shop.keys.appName}#E#${eventId}` })),
  );
  for (const secret of [accessToken, url, shop.keys.publicKey]) expect(JSON.stringify(rows)).not.toContain(secret);
});
