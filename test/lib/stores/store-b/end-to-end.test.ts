import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases, getCustomerTransactions } from '../../../../lib/api/customers.ts';
import type { IssuedApiKeys } from '../../../../lib/apps/manage-apps.ts';
import { buildBasicAuth, callEndpoint } from '../../../../testing/call.ts';
import { startTestService, type TestService } from '../../../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['store_b']);
});
afterEach(async () => {
  await service.clearFaults();
});
afterAll(async () => {
  await service.close();
});

let users = 0;
let user = '';
const buy = async (order: object = {}) => {
  user = `user-${++users}`;
  return await service.callControl('/purchases', {
    platform: 'store_b',
    productId: `premium-${users}`,
    type: 'paid subscription',
    applicationUsername: user,
    ...order,
  });
};
const act = async (id: string, action: string, body: object = {}) =>
  await service.callControl(`/purchases/${id}/${action}`, body);
const validate = async (body: object) => (await service.validate(keys, body)).body;
const owned = async (owner = keys) => {
  const params = { applicationUsername: user };
  const { body } = await callEndpoint(getCustomerPurchases, {
    headers: buildBasicAuth(owner.appName, owner.secretKey),
    params,
  });
  return Object.values<Record<string, unknown>>(body.purchases);
};
/** The purchase after an action, as the customer's server reads it. */
const stateAfter = async (id: string, action: string, body: object = {}) => {
  const changed = await act(id, action, body);
  await validate(changed.validate);
  return (await owned())[0];
};

describe('a subscription of store_b', () => {
  it('is granted, with its price, its user and its native answer', async () => {
    const { validate: body } = await buy();
    expect(await validate(body)).toMatchObject({
      ok: true,
      data: {
        id: body.id,
        transaction: { type: 'android-store', kind: 'androidpublisher#subscriptionPurchaseV2' },
        collection: [{ id: body.id, isExpired: false, renewalIntent: 'Renew', isAcknowledged: false }],
      },
    });
    expect(await owned()).toMatchObject([
      { amountMicros: 4_990_000, currency: 'USD', amountUSD: 4.99, sandbox: false },
    ]);
  });

  it.each<[string, object]>([
    ['cancel', { renewalIntent: 'Lapse', isExpired: false }],
    ['fail-payment', { isBillingRetryPeriod: true, isExpired: false }],
    ['expire', { isExpired: true }],
    ['revoke', { isExpired: true }],
    ['pause', { isPaused: true, isExpired: true, cancelationReason: 'PAUSED', autoResumeDate: expect.any(String) }],
    ['raise-price', { priceConsentStatus: 'Notified', isExpired: false }],
  ])('after %s is what the store says', async (action, state) => {
    const { id, validate: body } = await buy();
    await validate(body);
    expect(await stateAfter(id, action)).toMatchObject(state);
  });

  it.each<[string, string, object]>([
    ['cancel', 'uncancel', { renewalIntent: 'Renew', isExpired: false }],
    ['fail-payment', 'recover', { isBillingRetryPeriod: false, isExpired: false }],
    ['fail-payment', 'fail-payment', { isBillingRetryPeriod: true, isExpired: true }],
    ['pause', 'resume', { isExpired: false }],
    ['raise-price', 'accept-price', { priceConsentStatus: 'Agreed' }],
  ])('after %s and %s is what the store says', async (first, second, state) => {
    const { id, validate: body } = await buy();
    await validate(body);
    await act(id, first);
    expect(await stateAfter(id, second)).toMatchObject(state);
  });

  it('has one transaction for each payment, none for entering grace', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    const transactions = async () =>
      (
        await callEndpoint(getCustomerTransactions, {
          headers: buildBasicAuth(keys.appName, keys.secretKey),
          params: { applicationUsername: user },
        })
      ).body.transactions;
    await stateAfter(id, 'renew');
    expect(await transactions()).toHaveLength(2);
    await stateAfter(id, 'fail-payment');
    expect(await transactions()).toHaveLength(2);
  });

  it('replaces the one that a change of plan ended, and brings its user along', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    const changed = await act(id, 'change-plan', { productId: `yearly-${users}` });
    const { additionalData: _user, ...anonymous } = changed.validate;
    expect(await validate(anonymous)).toMatchObject({ ok: true });
    expect(await owned()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ isExpired: false, productId: `store_b:yearly-${users}` }),
        expect.objectContaining({ isExpired: true, cancelationReason: 'System.Replaced' }),
      ]),
    );
  });

  it('in its trial is one, at no price', async () => {
    const { validate: body } = await buy({ trial: true });
    await validate(body);
    expect(await owned()).toMatchObject([{ isTrialPeriod: true, amountMicros: 0 }]);
  });

  it('from a test account is a sandbox purchase', async () => {
    const { validate: body } = await buy({ sandbox: true });
    await validate(body);
    expect(await owned()).toMatchObject([{ sandbox: true }]);
  });

  it('is acknowledged once it is stored, where the settings say so', async () => {
    const acknowledging = await service.createApp(['store_b'], { acknowledge: true });
    const { validate: body } = await buy();
    const { body: result } = await service.validate(acknowledging, body);
    expect(result).toMatchObject({ ok: true, data: { collection: [{ isAcknowledged: true }] } });
    expect(await owned(acknowledging)).toMatchObject([{ isAcknowledged: true }]);
  });

  it('speaks brand words to who speaks them, and stores the same purchase', async () => {
    const { validate: body } = await buy({ form: 'brand' });
    expect(await validate(body)).toMatchObject({
      data: { transaction: { type: 'android-playstore' }, collection: [{ platform: 'android-playstore' }] },
    });
    expect(await owned()).toMatchObject([{ platform: 'store_b' }]);
  });
});

describe('a product of store_b', () => {
  it('is granted, and gone when it was revoked', async () => {
    const { id, validate: body } = await buy({ type: 'non consumable' });
    expect(await validate(body)).toMatchObject({ ok: true, data: { collection: [{ isExpired: false, quantity: 1 }] } });
    expect(await stateAfter(id, 'revoke')).toMatchObject({ isExpired: true });
  });

  it('is consumed once it is stored, where the settings say so, and counts once', async () => {
    const consuming = await service.createApp(['store_b'], { acknowledge: true });
    const { validate: body } = await buy({ type: 'consumable' });
    expect((await service.validate(consuming, body)).body).toMatchObject({
      ok: true,
      data: { collection: [{ isConsumed: true }] },
    });
    expect((await service.validate(consuming, body)).body).toMatchObject({ ok: false, code: 6778004 });
  });
});

describe('store_b', () => {
  it.each(['down', 'rate-limited', 'html', 'cut'])('while it is %s makes no purchase unowned', async (fault) => {
    const { validate: known } = await buy();
    await validate(known);
    const { validate: unknown } = await buy();
    await service.callControl('/faults', { platform: 'store_b', fault, times: 30 });
    expect(await validate(unknown)).toMatchObject({ ok: false, code: 6778002 });
    expect(await validate({ ...known })).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
    await service.clearFaults();
    expect(await validate(unknown)).toMatchObject({ ok: true });
  });

  it('refuses a token that it does not know, a broken signature and a receipt of another application', async () => {
    const { validate: body } = await buy();
    const { transaction } = body;
    const others = [
      { purchaseToken: 'made-up-token', receipt: undefined, signature: undefined },
      { signature: Buffer.from('no signature').toString('base64') },
      { receipt: JSON.stringify({ packageName: 'com.other', purchaseToken: transaction.purchaseToken }) },
      { purchaseToken: '', receipt: 'not json' },
    ];
    for (const other of others) {
      expect(await validate({ ...body, transaction: { ...transaction, ...other } })).toMatchObject({
        ok: false,
        code: 6778001,
      });
    }
  });

  it('with a service account that it does not know is a matter of configuration', async () => {
    const { serviceAccount } = await service.callControl('/settings/store_b');
    const wrong = { serviceAccount: { ...serviceAccount, client_email: 'other@example.com' } };
    const { validate: body } = await buy();
    expect((await service.validate(await service.createApp(['store_b'], wrong), body)).body).toMatchObject({
      code: 6778005,
    });
  });

  it('without a service account believes the signed receipt, with a warning', async () => {
    const signed = await service.createApp(['store_b'], { serviceAccount: undefined });
    const { validate: body } = await buy();
    const { body: result } = await service.validate(signed, body);
    expect(result).toMatchObject({
      ok: true,
      data: { warning: expect.any(String), collection: [{ isExpired: false }] },
    });
  });
});
