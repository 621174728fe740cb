import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../../../lib/apps/manage-apps.ts';
import { getCustomerPurchases, getCustomerTransactions } from '../../../../lib/customers/contract.ts';
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

let userCount = 0;
let username = '';
const buy = async (order: object = {}) => {
  username = `user-${++userCount}`;
  return await service.callControl('/purchases', {
    platform: 'store_b',
    productId: `premium-${userCount}`,
    type: 'paid subscription',
    applicationUsername: username,
    ...order,
  });
};
const act = async (id: string, action: string, body: object = {}) =>
  await service.callControl(`/purchases/${id}/${action}`, body);
const validate = async (body: object) => (await service.validate(keys, body)).body;
const listPurchases = async (appKeys = keys) => {
  const params = { applicationUsername: username };
  const { body } = await callEndpoint(getCustomerPurchases, {
    headers: buildBasicAuth(appKeys.appName, appKeys.secretKey),
    params,
  });
  return Object.values<Record<string, unknown>>(body.purchases);
};

/** Performs an action, validates the purchase again and reads it from the API. */
const actAndRead = async (id: string, action: string, body: object = {}) => {
  const result = await act(id, action, body);
  await validate(result.validate);
  return (await listPurchases())[0];
};

describe('POST /v1/validate (Google Play) of a subscription', () => {
  it('returns the purchase with its price and its native transaction', async () => {
    const { validate: body } = await buy();
    expect(await validate(body)).toMatchObject({
      ok: true,
      data: {
        id: body.id,
        transaction: { type: 'android-store', kind: 'androidpublisher#subscriptionPurchaseV2' },
        collection: [{ id: body.id, isExpired: false, renewalIntent: 'Renew', isAcknowledged: false }],
      },
    });
    expect(await listPurchases()).toMatchObject([
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
  ])('returns the state after %s', async (action, state) => {
    const { id, validate: body } = await buy();
    await validate(body);
    expect(await actAndRead(id, action)).toMatchObject(state);
  });

  it.each<[string, string, object]>([
    ['cancel', 'uncancel', { renewalIntent: 'Renew', isExpired: false }],
    ['fail-payment', 'recover', { isBillingRetryPeriod: false, isExpired: false }],
    ['fail-payment', 'fail-payment', { isBillingRetryPeriod: true, isExpired: true }],
    ['pause', 'resume', { isExpired: false }],
    ['raise-price', 'accept-price', { priceConsentStatus: 'Agreed' }],
  ])('returns the state after %s and %s', async (first, second, state) => {
    const { id, validate: body } = await buy();
    await validate(body);
    await act(id, first);
    expect(await actAndRead(id, second)).toMatchObject(state);
  });

  it('records a transaction for a renewal, not for a grace period', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    const listTransactions = async () =>
      (
        await callEndpoint(getCustomerTransactions, {
          headers: buildBasicAuth(keys.appName, keys.secretKey),
          params: { applicationUsername: username },
        })
      ).body.transactions;
    await actAndRead(id, 'renew');
    expect(await listTransactions()).toHaveLength(2);
    await actAndRead(id, 'fail-payment');
    expect(await listTransactions()).toHaveLength(2);
  });

  it('ends the replaced subscription after a plan change and keeps its customer', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    const result = await act(id, 'change-plan', { productId: `yearly-${userCount}` });
    const { additionalData: _username, ...anonymous } = result.validate;
    expect(await validate(anonymous)).toMatchObject({ ok: true });
    expect(await listPurchases()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ isExpired: false, productId: `store_b:yearly-${userCount}` }),
        expect.objectContaining({ isExpired: true, cancelationReason: 'System.Replaced' }),
      ]),
    );
  });

  it('returns a trial with a zero amount', async () => {
    const { validate: body } = await buy({ trial: true });
    await validate(body);
    expect(await listPurchases()).toMatchObject([{ isTrialPeriod: true, amountMicros: 0 }]);
  });

  it('returns the purchase of a license tester as sandbox', async () => {
    const { validate: body } = await buy({ sandbox: true });
    await validate(body);
    expect(await listPurchases()).toMatchObject([{ sandbox: true }]);
  });

  it('acknowledges a stored purchase if the settings say so', async () => {
    const appKeys = await service.createApp(['store_b'], { acknowledge: true });
    const { validate: body } = await buy();
    const { body: result } = await service.validate(appKeys, body);
    expect(result).toMatchObject({ ok: true, data: { collection: [{ isAcknowledged: true }] } });
    expect(await listPurchases(appKeys)).toMatchObject([{ isAcknowledged: true }]);
  });

  it("responds in the request's vocabulary and stores the neutral one", async () => {
    const { validate: body } = await buy({ form: 'brand' });
    expect(await validate(body)).toMatchObject({
      data: { transaction: { type: 'android-playstore' }, collection: [{ platform: 'android-playstore' }] },
    });
    expect(await listPurchases()).toMatchObject([{ platform: 'store_b' }]);
  });
});

describe('POST /v1/validate (Google Play) of a one-time product', () => {
  it('returns a revoked product as expired', async () => {
    const { id, validate: body } = await buy({ type: 'non consumable' });
    expect(await validate(body)).toMatchObject({ ok: true, data: { collection: [{ isExpired: false, quantity: 1 }] } });
    expect(await actAndRead(id, 'revoke')).toMatchObject({ isExpired: true });
  });
});

describe('POST /v1/validate (Google Play)', () => {
  it.each(['down', 'rate-limited', 'html', 'cut'])(
    'returns the last verified state if the store is %s',
    async (fault) => {
      const { validate: stored } = await buy();
      await validate(stored);
      const { validate: unknown } = await buy();
      await service.callControl('/faults', { platform: 'store_b', fault, times: 30 });
      expect(await validate(unknown)).toMatchObject({ ok: false, code: 6778002 });
      expect(await validate({ ...stored })).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
      await service.clearFaults();
      expect(await validate(unknown)).toMatchObject({ ok: true });
    },
  );

  it('rejects an unknown token, a wrong signature and a receipt for a different app', async () => {
    const { validate: body } = await buy();
    const { transaction } = body;
    const changes = [
      { purchaseToken: 'made-up-token', receipt: undefined, signature: undefined },
      { signature: Buffer.from('no signature').toString('base64') },
      { receipt: JSON.stringify({ packageName: 'com.other', purchaseToken: transaction.purchaseToken }) },
      { purchaseToken: '', receipt: 'not json' },
    ];
    for (const change of changes) {
      expect(await validate({ ...body, transaction: { ...transaction, ...change } })).toMatchObject({
        ok: false,
        code: 6778001,
      });
    }
  });

  it('returns InternalError if Google rejects the service account', async () => {
    const { serviceAccount } = await service.callControl('/settings/store_b');
    const wrong = { serviceAccount: { ...serviceAccount, client_email: 'other@example.com' } };
    const { validate: body } = await buy();
    expect((await service.validate(await service.createApp(['store_b'], wrong), body)).body).toMatchObject({
      code: 6778005,
    });
  });

  it('accepts a signed receipt with a warning if the settings lack a service account', async () => {
    const appKeys = await service.createApp(['store_b'], { serviceAccount: undefined });
    const { validate: body } = await buy();
    const { body: result } = await service.validate(appKeys, body);
    expect(result).toMatchObject({
      ok: true,
      data: { warning: expect.any(String), collection: [{ isExpired: false }] },
    });
  });
});
