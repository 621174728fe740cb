import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { handler as refresh } from '../../functions/workers/refresh-purchase.ts';
import { getCustomerPurchases } from '../../lib/api/customers.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

interface Promised {
  readonly platform: Platform;
  /** What of a body makes it one of a purchase that the store does not know. */
  readonly unknown: object;
  /** Settings of another application of the same store. */
  readonly foreign: object;
  /** What a refunded subscription shows, where that is not an end at the customer's wish. */
  readonly refunded?: object;
  /** A product id in the form of the store, other than that of any earlier number. */
  readonly product?: (number: number) => string;
  /** The form of the body that names the product, where the usual one asks for all that is owned. */
  readonly form?: string;
  readonly priceMicros?: number;
  /** Whether a receipt tells only what was so when it was paid with, so that news of it come by a refresh. */
  readonly isSpent?: boolean;
}

const jws = 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln';
const stores: readonly Promised[] = [
  { platform: 'store_a', unknown: { jwsRepresentation: jws }, foreign: { bundleId: 'com.other' }, form: 'product' },
  {
    platform: 'store_c',
    unknown: { storeId: '9NBLGGH5ZZZZ' },
    foreign: { clientId: 'another-client' },
    // A recurrence that ends with its refund does not say who wished it.
    refunded: { isExpired: true, cancelationReason: 'Unknown' },
    product: (number) => `9NBLGGH5W${String(number).padStart(3, '0')}`,
  },
  {
    platform: 'store_b',
    unknown: { purchaseToken: 'unknown', receipt: '', signature: '' },
    foreign: { packageName: 'com.other' },
    // A refund without a revocation leaves the access.
    refunded: { isExpired: false },
  },
  { platform: 'processor_a', unknown: { id: 'ch_unknown' }, foreign: { secretKey: 'sk_test_another_account' } },
  {
    platform: 'service_processor_a',
    unknown: { id: 'ch_unknown' },
    foreign: { secretKey: 'sk_test_another_account' },
  },
  {
    platform: 'processor_b',
    unknown: { paymentMethodNonce: 'unknown' },
    foreign: { publicKey: 'another-key' },
    // Only what an operator has put into the catalogue is sold.
    product: () => 'monthly',
    priceMicros: 9_990_000,
    isSpent: true,
  },
];

const ended = { isExpired: true, cancelationReason: expect.stringMatching(/^Customer/) };
const productIdOf = (number: number) => `product-${number}`;

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(async () => {
  await service.clearFaults();
});
afterAll(async () => {
  await service.close();
});

describe.each(stores)('$platform', (promised) => {
  const { platform, unknown, foreign, form, product = productIdOf, refunded = ended } = promised;
  const { priceMicros = 4_990_000, isSpent = false } = promised;
  let keys: IssuedApiKeys;
  let user = '';
  let users = 0;
  beforeAll(async () => {
    keys = await service.createApp([platform]);
  });

  const validated = async (body: object, as = keys) => (await service.validate(as, body)).body;
  const buy = async (order: object = {}) => {
    user = `${platform}-${++users}`;
    const sold = { platform, productId: product(users), type: 'paid subscription' };
    return await service.callControl('/purchases', {
      ...sold,
      applicationUsername: user,
      ...(form && { form }),
      ...order,
    });
  };
  const act = async (id: string, action: string) =>
    await service.callControl(`/purchases/${id}/${action}`, { ...(form && { form }) });
  const owned = async () => {
    const params = { applicationUsername: user };
    const { body } = await callEndpoint(getCustomerPurchases, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params,
    });
    return Object.values<Record<string, unknown>>(body.purchases);
  };

  /** The worker is given the purchase as its queue does. */
  const refreshed = async () => {
    const [purchase] = await owned();
    const body = JSON.stringify({ appName: keys.appName, purchaseId: purchase?.purchaseId });
    const { batchItemFailures } = await refresh({ Records: [{ messageId: '1', body }] } as SQSEvent);
    expect(batchItemFailures).toEqual([]);
    return await owned();
  };

  /** The receipt is validated again after something happened to the purchase. */
  const validatedLate = async (body: object) => {
    if (isSpent) await refreshed();
    return await validated(body);
  };

  it('grants what was paid, and can be read back', async () => {
    const { validate } = await buy();
    expect(await validated(validate)).toMatchObject({
      ok: true,
      data: { transaction: { type: validate.transaction.type } },
    });
    expect(await owned()).toMatchObject([
      { platform, isExpired: false, renewalIntent: 'Renew', amountMicros: priceMicros },
    ]);
  });

  it('gives the same answer to the same receipt again, and one purchase', async () => {
    const { validate } = await buy();
    const [first, second] = [await validated(validate), await validated(validate)];
    expect(second.data.collection).toEqual(first.data.collection);
    expect(await owned()).toHaveLength(1);
  });

  it('refuses what the store does not know, and stores nothing', async () => {
    const { validate } = await buy();
    const transaction = { ...validate.transaction, ...unknown };
    expect(await validated({ ...validate, transaction })).toMatchObject({ ok: false, code: 6778001 });
    expect(await owned()).toEqual([]);
  });

  it('calls an expired subscription expired', async () => {
    const { id, validate } = await buy();
    await validated(validate);
    const { validate: late } = await act(id, 'expire');
    expect(await validatedLate(late)).toMatchObject({ ok: false, code: 6778003, status: 419 });
    expect(await owned()).toMatchObject([{ isExpired: true }]);
  });

  it('keeps a cancelled subscription until its end', async () => {
    const { id, validate } = await buy();
    await validated(validate);
    expect(await validatedLate((await act(id, 'cancel')).validate)).toMatchObject({ ok: true });
    expect(await owned()).toMatchObject([{ isExpired: false, renewalIntent: 'Lapse' }]);
  });

  it('keeps a subscription in grace, and says that its payment failed', async () => {
    const { id, validate } = await buy();
    await validated(validate);
    expect(await validatedLate((await act(id, 'fail-payment')).validate)).toMatchObject({ ok: true });
    expect(await owned()).toMatchObject([{ isExpired: false, isBillingRetryPeriod: true }]);
  });

  it('shows what was refunded as its store does', async () => {
    const { id, validate } = await buy();
    await validated(validate);
    await act(id, 'refund');
    expect(await refreshed()).toMatchObject([refunded]);
  });

  it('learns from a refresh what happened since', async () => {
    const { id, validate } = await buy();
    await validated(validate);
    await act(id, 'cancel');
    expect(await refreshed()).toMatchObject([{ isExpired: false, renewalIntent: 'Lapse' }]);
  });

  it('knows a trial', async () => {
    const { validate } = await buy({ trial: true });
    expect(await validated(validate)).toMatchObject({ ok: true, data: { collection: [{ isTrialPeriod: true }] } });
  });

  it.each(['down', 'rate-limited', 'html', 'cut'])(
    'while it is %s denies nothing, and grants again afterwards',
    async (fault) => {
      const { validate } = await buy();
      await service.callControl('/faults', { platform, fault, times: 30 });
      const during = await validated(validate);
      expect(during.ok ? during.data.warning : during.code).toEqual(during.ok ? expect.any(String) : 6778002);
      await service.clearFaults();
      expect(await validated(validate)).toMatchObject({ ok: true });
    },
  );

  it('never gives one application what was bought in another', async () => {
    const { validate } = await buy();
    const other = await service.createApp([platform], foreign);
    expect(await validated(validate, other)).toMatchObject({ ok: false });
  });
});
