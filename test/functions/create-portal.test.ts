import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCheckout, createPortal, getProcessorPurchases } from '../../lib/checkout/contract.ts';
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
