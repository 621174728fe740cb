import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { createCheckout, getProcessorPurchases } from '../../../../lib/api/processor-a.ts';
import { buildBasicAuth, callEndpoint } from '../../../../testing/call.ts';
import { type SoldService, startSoldService } from './checkout-fixture.ts';

let service: SoldService;
beforeAll(async () => {
  service = await startSoldService();
});
afterAll(() => service.close());

describe('a client library', () => {
  const checkOut = async (
    applicationUsername: string,
    own = service.keys,
    platform: 'processor_a' | 'service_processor_a' = 'processor_a',
  ) => {
    const { validate } = await service.buy({ platform });
    const { data } = await service.read(`prices?product=${validate.id}`, { appName: own.appName, platform });
    const body = {
      offerId: `stripe:${validate.id}#${data[0]?.id}`,
      applicationUsername,
      successUrl: 'https://a.example/',
      cancelUrl: 'https://a.example/',
    };
    const result = (await callEndpoint(createCheckout, { headers: buildBasicAuth(own.appName, own.publicKey), body }))
      .body;
    await service.callControl(`/checkouts/${result.sessionId}/pay`, {});
    return result.accessToken as string;
  };
  const bodyOf = (accessToken: string, transaction: object) => ({
    id: 'stripe:plan',
    type: 'paid subscription',
    transaction: { ...transaction, accessToken },
    additionalData: { applicationUsername: 'library-user' },
  });

  test.each([
    [{ type: 'iaptic', adapter: 'stripe' }, 'stripe'],
    [{ type: 'client-library', adapter: 'processor_a' }, 'processor_a'],
  ])('validates by its token: %o', async (transaction, platform) => {
    const body = bodyOf(await checkOut('library-user'), transaction);
    expect((await service.validate(service.keys, body)).body).toMatchObject({
      ok: true,
      data: {
        id: 'plan',
        transaction: { type: transaction.type },
        collection: [{ id: 'plan', platform, isExpired: false }],
      },
    });
  });

  it('is told so when its token is not good', async () => {
    const body = bodyOf(`ak_${'x'.repeat(32)}`, { type: 'iaptic', adapter: 'stripe' });
    expect((await service.validate(service.keys, body)).body).toMatchObject({
      ok: false,
      status: 403,
      message: 'Invalid access token',
    });
  });

  it('is refused with another adapter', async () => {
    const body = bodyOf(await checkOut('library-user'), { type: 'iaptic', adapter: 'paypal' });
    expect((await service.validate(service.keys, body)).body).toMatchObject({ ok: false, code: 6778001 });
  });

  it("sells through the deployment's account where the application is set so", async () => {
    const own = await service.createApp(['service_processor_a']);
    const accessToken = await checkOut('service-user', own, 'service_processor_a');
    const { purchases } = (
      await callEndpoint(getProcessorPurchases, {
        headers: buildBasicAuth(own.appName, own.publicKey),
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
    const body = bodyOf(accessToken, { type: 'client-library' });
    expect((await service.validate(own, body)).body.data.collection).toMatchObject([
      { platform: 'service_processor_a' },
    ]);
    const elsewhere = { ...body, transaction: { type: 'processor_a-charge', id: purchases[0].purchaseId } };
    const other = await service.createApp(['service_processor_a']);
    expect((await service.validate(other, elsewhere)).body).toMatchObject({
      ok: false,
      message: 'This was sold for another application.',
    });
    expect((await service.validate(service.keys, elsewhere)).body).toMatchObject({
      ok: false,
      message: 'The processor does not know this id.',
    });
  });
});
