import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changePlan, createCheckout, getProcessorPurchases } from '../../lib/checkout/contract.ts';
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
    const { accessToken } = (await checkout.call(createCheckout, { offerId, ...checkoutUrls })).body;
    const response = await checkout.call(changePlan, { accessToken, offerId });
    expectCheckoutError(response, 400, /does not have a purchase yet/);
  });
});
