import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import { deps } from '../../../../lib/deps.ts';
import { type SoldService, startSoldService } from './checkout-fixture.ts';

let service: SoldService;
beforeAll(async () => {
  service = await startSoldService();
});
afterEach(async () => {
  await service.clearFaults();
});
afterAll(() => service.close());

describe('a validation', () => {
  test.each(['charge', 'brand', 'purchase'])('by the form %s answers with the purchase', async (form) => {
    const { id } = await service.buy();
    const body = await service.again(id, form);
    expect(body).toMatchObject({
      ok: true,
      data: {
        id: 'plan',
        transaction: { type: form === 'brand' ? 'stripe-charge' : 'processor_a-charge' },
        collection: [
          {
            id: 'plan',
            purchaseId: id,
            platform: form === 'brand' ? 'stripe' : 'processor_a',
            isExpired: false,
            renewalIntent: 'Renew',
          },
        ],
      },
    });
    expect(body.data.transaction.transactionId).toMatch(/^in_/);
  });

  it.each([
    ['subscription', 'sub'],
    ['invoice', 'in'],
    ['payment', 'pi'],
    ['session', 'cs'],
  ])('takes the id of a %s', async (_what, prefix) => {
    const { id, sessionId, validate } = await service.buy();
    const { data } = await service.again(id);
    const ids: Record<string, string> = {
      sub: id,
      in: data.transaction.transactionId,
      cs: sessionId,
      pi: await intentOf(validate),
    };
    const body = { ...validate, transaction: { ...validate.transaction, id: `stripe:${ids[prefix]}` } };
    expect((await service.validate(service.keys, body)).body).toMatchObject({
      ok: true,
      data: { collection: [{ purchaseId: id }] },
    });
  });

  it('of one payment gives a purchase without end', async () => {
    const { id, validate } = await service.buy({
      productId: 'coins',
      type: 'consumable',
      priceMicros: 2_000_000,
      currency: 'JPY',
      quantity: 3,
      sandbox: true,
    });
    expect((await service.validate(service.keys, validate)).body).toMatchObject({
      ok: true,
      data: { collection: [{ id: 'coins', purchaseId: id, quantity: 3, isExpired: false }] },
    });
    const found = await deps().purchases.find(service.keys.appName, `processor_a:${id}`);
    expect(found?.purchase).toMatchObject({
      amountMicros: 6_000_000,
      currency: 'JPY',
      sandbox: true,
      productType: 'consumable',
    });
    expect(found?.purchase).not.toHaveProperty('expirationDate');
  });

  it('of another product than was bought is refused', async () => {
    const { validate } = await service.buy();
    expect((await service.validate(service.keys, { ...validate, id: 'dearer' })).body).toMatchObject({
      ok: false,
      code: 6778001,
    });
  });

  it.each([
    'ch_unknown',
    'pi_unknown',
    'sub_unknown',
    'cs_test_unknown',
    'nonsense',
    'prod_1',
    '../secrets',
    'ch_../x',
  ])('of the id %s is refused', async (id) => {
    const transaction = { type: 'processor_a-charge', id };
    expect(
      (await service.validate(service.keys, { id: 'plan', type: 'paid subscription', transaction })).body,
    ).toMatchObject({
      ok: false,
      status: 400,
      code: 6778001,
    });
  });
});

async function intentOf({ transaction }: { transaction: { id: string } }): Promise<string> {
  return (await service.read(`charges/${transaction.id}`)).payment_intent;
}

describe('an outage', () => {
  test.each(['down', 'rate-limited', 'html', 'cut'])(
    '%s answers the last verified state with a warning, or that it cannot be known',
    async (fault) => {
      const { id } = await service.buy();
      const fresh = await service.buy();
      await service.again(id);
      await service.callControl('/faults', { platform: 'processor_a', fault, times: 20 });
      expect(await service.again(id)).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
      expect((await service.validate(service.keys, fresh.validate)).body).toMatchObject({
        ok: false,
        status: 502,
        code: 6778002,
      });
    },
  );
});

describe('settings', () => {
  it('are checked by their form and by a call', async () => {
    const store = await deps().loadStore('processor_a');
    const good = await service.asking();
    expect(await store.checkSettings(good, { callStore: false })).toMatch(/live key/);
    expect(await store.checkSettings(good, { callStore: true })).toMatch(/accepts/);
    const form = store.checkSettings({ ...good, settings: { secretKey: 'pk_live_public' } }, { callStore: false });
    await expect(form).rejects.toMatchObject({ code: 'InvalidPayload' });
    const wrong = store.checkSettings(
      { ...good, settings: { secretKey: 'sk_live_somebody_else' } },
      { callStore: true },
    );
    await expect(wrong).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringContaining('configuration error'),
    });
  });
});
