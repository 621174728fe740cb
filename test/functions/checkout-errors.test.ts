import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import {
  changePlan,
  createCheckout,
  createPortal,
  getPrices,
  getProcessorPurchases,
} from '../../lib/checkout/contract.ts';
import {
  type CheckoutFixture,
  checkoutUrls,
  expectCheckoutError,
  startCheckoutFixture,
  toBasicOffer,
} from './checkout-fixture.ts';

let checkout: CheckoutFixture;
let offerId: string;
beforeAll(async () => {
  checkout = await startCheckoutFixture();
  offerId = toBasicOffer(checkout.prices.basic);
});
afterEach(() => checkout.clearFaults());
afterAll(() => checkout.close());

const returnUrl = 'https://app.example.com/';
const invalidToken = /^Invalid access token$/;

/** Every call that requires an access token. */
const listTokenCalls = (accessToken: string): readonly (readonly [Contract, object])[] => [
  [changePlan, { offerId, accessToken }],
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
    const { accessToken } = await checkout.buy(offerId);
    const keys = await checkout.createApp(['processor_a']);
    for (const [contract, input] of listTokenCalls(accessToken))
      expectCheckoutError(await checkout.call(contract, input, { keys }), 403, invalidToken);
  });

  it('reject an expired token', async () => {
    const { accessToken } = await checkout.buy(offerId);
    await checkout.callControl('/clock', { advance: 'P31D' });
    for (const [contract, input] of listTokenCalls(accessToken))
      expectCheckoutError(await checkout.call(contract, input), 403, invalidToken);
  });

  it('reject a token with the id of a different purchase', async () => {
    const { accessToken } = await checkout.buy(offerId);
    const { sessionId } = await checkout.buy(offerId);
    const { subscription } = await checkout.stripe.checkout.sessions.retrieve(sessionId);
    for (const id of [sessionId, String(subscription), 'price_1']) {
      expectCheckoutError(await checkout.call(createPortal, { id, returnUrl, accessToken }), 403, invalidToken);
      expectCheckoutError(await checkout.call(changePlan, { id, offerId, accessToken }), 403, invalidToken);
    }
  });
});

describe('endpoints of Stripe', () => {
  it.each(['down', 'rate-limited', 'html', 'cut'])('report Stripe as unavailable for the fault "%s"', async (fault) => {
    const { accessToken } = await checkout.buy(offerId);
    // Its own app: the price list of the other app is cached.
    const keys = await checkout.createApp(['processor_a']);
    await checkout.callControl('/faults', { platform: 'processor_a', fault, times: 20 });
    const unavailable = /^Stripe is unavailable/;
    expectCheckoutError(await checkout.call(getPrices, {}, { keys }), 502, unavailable);
    expectCheckoutError(await checkout.call(createCheckout, { offerId, ...checkoutUrls }), 502, unavailable);
    expectCheckoutError(await checkout.call(getProcessorPurchases, { accessToken }), 502, unavailable);
  });
});
