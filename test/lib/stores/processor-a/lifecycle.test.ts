import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import { createCheckout, getProcessorPurchases } from '../../../../lib/api/processor-a.ts';
import type { IssuedKeys } from '../../../../lib/apps/operator.ts';
import { deps } from '../../../../lib/deps.ts';
import { newRecorder } from '../../../../lib/events/recorder.ts';
import { askingOf } from '../../../../lib/http/asking.ts';
import type { Platform } from '../../../../lib/purchases/platform.ts';
import { basic, call } from '../../../support/call.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

let service: TestService;
let keys: IssuedKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.app(['processor_a']);
});
afterEach(async () => {
  await fetch(`${service.emulatorUrl}/control/faults`, { method: 'DELETE' });
});
afterAll(() => service.close());

let users = 0;
const buy = async (order: object = {}) =>
  await service.control('/purchases', {
    platform: 'processor_a',
    productId: 'plan',
    type: 'paid subscription',
    applicationUsername: `user-${++users}`,
    ...order,
  });
const act = async (id: string, action: string, details: object = {}) =>
  await service.control(`/purchases/${id}/${action}`, details);
const again = async (id: string, form = 'purchase') => {
  const { validate } = await service.control(`/purchases/${id}?form=${form}`);
  return (await service.validate(keys, validate)).body;
};

describe('a validation', () => {
  test.each(['charge', 'brand', 'purchase'])('by the form %s answers with the purchase', async (form) => {
    const { id } = await buy();
    const body = await again(id, form);
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
    const { id, sessionId, validate } = await buy();
    const { data } = await again(id);
    const ids: Record<string, string> = {
      sub: id,
      in: data.transaction.transactionId,
      cs: sessionId,
      pi: await intentOf(validate),
    };
    const body = { ...validate, transaction: { ...validate.transaction, id: `stripe:${ids[prefix]}` } };
    expect((await service.validate(keys, body)).body).toMatchObject({
      ok: true,
      data: { collection: [{ purchaseId: id }] },
    });
  });

  it('of one payment gives a purchase without end', async () => {
    const { id, validate } = await buy({
      productId: 'coins',
      type: 'consumable',
      priceMicros: 2_000_000,
      currency: 'JPY',
      quantity: 3,
      sandbox: true,
    });
    expect((await service.validate(keys, validate)).body).toMatchObject({
      ok: true,
      data: { collection: [{ id: 'coins', purchaseId: id, quantity: 3, isExpired: false }] },
    });
    const found = await deps().purchases.find(keys.app, `processor_a:${id}`);
    expect(found?.purchase).toMatchObject({
      amountMicros: 6_000_000,
      currency: 'JPY',
      sandbox: true,
      productType: 'consumable',
    });
    expect(found?.purchase).not.toHaveProperty('expirationDate');
  });

  it('of another product than was bought is refused', async () => {
    const { validate } = await buy();
    expect((await service.validate(keys, { ...validate, id: 'dearer' })).body).toMatchObject({
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
    expect((await service.validate(keys, { id: 'plan', type: 'paid subscription', transaction })).body).toMatchObject({
      ok: false,
      status: 400,
      code: 6778001,
    });
  });
});

async function intentOf({ transaction }: { transaction: { id: string } }): Promise<string> {
  const { secretKey } = (await deps().apps.storeSettings(keys.app, 'processor_a')) as { secretKey: string };
  const answer = await fetch(`${service.emulatorUrl}/api.stripe.com/v1/charges/${transaction.id}`, {
    headers: { authorization: `Bearer ${secretKey}` },
  });
  return ((await answer.json()) as { payment_intent: string }).payment_intent;
}

describe('a subscription', () => {
  it('renews, with a transaction more', async () => {
    const { id } = await buy();
    const first = await again(id);
    await service.control('/clock', { advance: 'P1M' });
    expect(await again(id)).toMatchObject({ ok: false, code: 6778003 });
    await act(id, 'renew');
    const second = await again(id);
    expect(second.data.collection[0].expiryDate).toBeGreaterThan(first.data.collection[0].expiryDate);
    expect(second.data.collection[0]).toHaveProperty('lastRenewalDate');
    expect(await deps().purchases.transactionsOf(keys.app, [`processor_a:${id}`])).toHaveLength(2);
  });

  it('goes on to its end when it was cancelled, and is expired then', async () => {
    const { id } = await buy();
    await act(id, 'cancel');
    const running = await again(id);
    expect(running.data.collection[0]).toMatchObject({ renewalIntent: 'Lapse', isExpired: false });
    expect(running.data.collection[0]).not.toHaveProperty('cancelationReason');
    await act(id, 'uncancel');
    expect((await again(id)).data.collection[0].renewalIntent).toBe('Renew');
    await act(id, 'cancel');
    await service.control('/clock', { advance: 'P1M' });
    expect(await again(id)).toMatchObject({ ok: false, code: 6778003 });
    expect((await stored(id))?.cancelationReason).toBe('Customer');
  });

  it('keeps access for the grace when a payment fails, and loses it after', async () => {
    const { id } = await buy();
    await service.control('/clock', { advance: 'P1M' });
    await act(id, 'fail-payment');
    expect((await again(id)).data.collection[0]).toMatchObject({ isBillingRetryPeriod: true, isExpired: false });
    await service.control('/clock', { advance: 'P8D' });
    expect(await again(id)).toMatchObject({ ok: false, code: 6778003 });
    await act(id, 'recover');
    expect((await again(id)).data.collection[0]).toMatchObject({ isBillingRetryPeriod: false, isExpired: false });
  });

  it('is lost at once when the account gives no grace', async () => {
    const { id } = await buy();
    await service.control('/clock', { advance: 'P1M' });
    await act(id, 'fail-payment', { grace: false });
    expect(await again(id)).toMatchObject({ ok: false, code: 6778003 });
    expect((await stored(id))?.cancelationReason).toBe('System.BillingError');
  });

  test.each([
    ['refund', 'Customer'],
    ['revoke', 'System'],
  ])('is taken away by a %s', async (action, reason) => {
    const { id } = await buy();
    await again(id);
    await service.control('/clock', { advance: 'P1D' });
    await act(id, action);
    expect(await again(id)).toMatchObject({ ok: false, status: 419, code: 6778003 });
    expect((await stored(id))?.cancelationReason).toBe(reason);
  });

  it('gives nothing while it is paused', async () => {
    const { id } = await buy();
    await act(id, 'pause', { period: 'P10D' });
    expect(await again(id)).toMatchObject({ ok: false, code: 6778003 });
    expect(await stored(id)).toMatchObject({
      isPaused: true,
      cancelationReason: 'PAUSED',
      autoResumeDate: expect.any(Number),
    });
    await service.control('/clock', { advance: 'P11D' });
    expect((await again(id)).data.collection[0]).toMatchObject({ isExpired: false });
  });

  it('begins with a trial of which nothing is paid', async () => {
    const { id } = await buy({ trial: 'P14D' });
    expect((await again(id)).data.collection[0]).toMatchObject({ isTrialPeriod: true, isExpired: false });
    expect(await deps().purchases.transactionsOf(keys.app, [`processor_a:${id}`])).toMatchObject([
      { amountMicros: 0, isTrialPeriod: true },
    ]);
  });

  it('changes its product', async () => {
    const { id } = await buy();
    await again(id);
    await act(id, 'change-plan', { productId: 'bigger', priceMicros: 9_990_000 });
    const { validate } = await service.control(`/purchases/${id}?form=purchase`);
    expect(validate.id).toBe('bigger');
    expect((await service.validate(keys, validate)).body.data.collection).toMatchObject([
      { id: 'bigger', purchaseId: id },
    ]);
  });

  it('is refreshed by its refresh token', async () => {
    const { id } = await buy();
    await act(id, 'cancel');
    const store = await deps().store('processor_a');
    const seen = await store.refresh?.({ id }, await asking('processor_a'));
    expect(seen).toMatchObject([{ purchase: { purchaseId: `processor_a:${id}`, renewalIntent: 'Lapse' } }]);
  });
});

const stored = async (id: string) => (await deps().purchases.find(keys.app, `processor_a:${id}`))?.purchase;
const asking = async (platform: Platform, app = keys.app) =>
  await askingOf(app, platform, { event: newRecorder({ type: 'test', date: deps().now() }), deps: deps() });

describe('a client library', () => {
  const checkOut = async (applicationUsername: string, own = keys) => {
    const { validate } = await buy();
    const { secretKey } = ((await deps().apps.storeSettings(own.app, 'processor_a')) ??
      (await deps().apps.storeSettings(own.app, 'service_processor_a'))) as { secretKey: string };
    const listed = await fetch(`${service.emulatorUrl}/api.stripe.com/v1/prices?product=${validate.id}`, {
      headers: { authorization: `Bearer ${secretKey}` },
    });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    const body = {
      offerId: `stripe:${validate.id}#${data[0]?.id}`,
      applicationUsername,
      successUrl: 'https://a.example/',
      cancelUrl: 'https://a.example/',
    };
    const answer = (await call(createCheckout, { headers: basic(own.app, own.publicKey), body })).body;
    await service.control(`/checkouts/${answer.sessionId}/pay`, {});
    return answer.accessToken as string;
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
    expect((await service.validate(keys, body)).body).toMatchObject({
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
    expect((await service.validate(keys, body)).body).toMatchObject({
      ok: false,
      status: 403,
      message: 'Invalid access token',
    });
  });

  it('is refused with another adapter', async () => {
    const body = bodyOf(await checkOut('library-user'), { type: 'iaptic', adapter: 'paypal' });
    expect((await service.validate(keys, body)).body).toMatchObject({ ok: false, code: 6778001 });
  });

  it("sells through the deployment's account where the application is set so", async () => {
    const own = await service.app(['service_processor_a']);
    const accessToken = await checkOut('service-user', own);
    const { purchases } = (
      await call(getProcessorPurchases, { headers: basic(own.app, own.publicKey), query: { accessToken } })
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
    expect((await service.validate(keys, elsewhere)).body).toMatchObject({
      ok: false,
      message: 'This was sold for another application.',
    });
  });
});

describe('an outage', () => {
  test.each(['down', 'rate-limited', 'html', 'cut'])(
    '%s answers the last verified state with a warning, or that it cannot be known',
    async (fault) => {
      const { id } = await buy();
      const fresh = await buy();
      await again(id);
      await service.control('/faults', { platform: 'processor_a', fault, times: 20 });
      expect(await again(id)).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
      expect((await service.validate(keys, fresh.validate)).body).toMatchObject({
        ok: false,
        status: 502,
        code: 6778002,
      });
    },
  );
});

describe('settings', () => {
  it('are checked by their form and by a call', async () => {
    const store = await deps().store('processor_a');
    const good = await asking('processor_a');
    expect(await store.checkSettings(good, { askStore: false })).toMatch(/live key/);
    expect(await store.checkSettings(good, { askStore: true })).toMatch(/accepts/);
    const form = store.checkSettings({ ...good, settings: { secretKey: 'pk_live_public' } }, { askStore: false });
    await expect(form).rejects.toMatchObject({ code: 'InvalidPayload' });
    const wrong = store.checkSettings(
      { ...good, settings: { secretKey: 'sk_live_somebody_else' } },
      { askStore: true },
    );
    await expect(wrong).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringContaining('configuration error'),
    });
  });
});
