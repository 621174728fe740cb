import { describe, expect, it, test } from '@jest/globals';
import { createCheckout, getProcessorPurchases } from '../../../../lib/checkout/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../../../testing/call.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startCheckoutService } from './checkout-fixture.ts';

const service = startBeforeAll(startCheckoutService);

describe('POST /v1/validate (access token)', () => {
  const completeCheckout = async (
    applicationUsername: string,
    app = service.keys,
    platform: 'processor_a' | 'service_processor_a' = 'processor_a',
  ) => {
    const { validate } = await service.buy({ platform });
    const { data } = await service.fetchFromStripe(`prices?product=${validate.id}`, { appName: app.appName, platform });
    const body = {
      offerId: `stripe:${validate.id}#${data[0]?.id}`,
      applicationUsername,
      successUrl: 'https://a.example/',
      cancelUrl: 'https://a.example/',
    };
    const result = (await callEndpoint(createCheckout, { headers: buildBasicAuth(app.appName, app.publicKey), body }))
      .body;
    await service.callControl(`/checkouts/${result.sessionId}/pay`, {});
    return result.accessToken as string;
  };
  const buildBody = (accessToken: string, transaction: object) => ({
    id: 'stripe:plan',
    type: 'paid subscription',
    transaction: { ...transaction, accessToken },
    additionalData: { applicationUsername: 'library-user' },
  });

  test.each([
    [{ type: 'iaptic', adapter: 'stripe' }, 'stripe'],
    [{ type: 'client-library', adapter: 'processor_a' }, 'processor_a'],
  ])('validates an access token (%o)', async (transaction, platform) => {
    const body = buildBody(await completeCheckout('library-user'), transaction);
    expect((await service.validate(service.keys, body)).body).toMatchObject({
      ok: true,
      data: {
        id: 'plan',
        transaction: { type: transaction.type },
        collection: [{ id: 'plan', platform, isExpired: false }],
      },
    });
  });

  it('rejects an unknown access token', async () => {
    const body = buildBody(`ak_${'x'.repeat(32)}`, { type: 'iaptic', adapter: 'stripe' });
    expect((await service.validate(service.keys, body)).body).toMatchObject({
      ok: false,
      status: 403,
      message: 'Invalid access token',
    });
  });

  it('rejects another adapter', async () => {
    const body = buildBody(await completeCheckout('library-user'), { type: 'iaptic', adapter: 'paypal' });
    expect((await service.validate(service.keys, body)).body).toMatchObject({ ok: false, code: 6778001 });
  });

  it("sells through the deployment's account if the app is configured for it", async () => {
    const app = await service.createApp(['service_processor_a']);
    const accessToken = await completeCheckout('service-user', app, 'service_processor_a');
    const { purchases } = (
      await callEndpoint(getProcessorPurchases, {
        headers: buildBasicAuth(app.appName, app.publicKey),
        query: { accessToken },
      })
    ).body;
    expect(purchases).toMatchObject([
      {
        platform: 'service_processor_a',
        purchaseId: expect.stringMatching(/^service_processor_a:sub_/),
        offerId: expect.stringMatching(/^service_processor_a:plan#/),
      },
    ]);
    const body = buildBody(accessToken, { type: 'client-library' });
    expect((await service.validate(app, body)).body.data.collection).toMatchObject([
      { platform: 'service_processor_a' },
    ]);
    const chargeBody = { ...body, transaction: { type: 'processor_a-charge', id: purchases[0].purchaseId } };
    const otherApp = await service.createApp(['service_processor_a']);
    expect((await service.validate(otherApp, chargeBody)).body).toMatchObject({
      ok: false,
      message: 'The purchase belongs to another app.',
    });
    expect((await service.validate(service.keys, chargeBody)).body).toMatchObject({
      ok: false,
      message: 'The id is not found at Stripe.',
    });
  });
});
