import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { handler as refresh } from '../../functions/workers/refresh-purchase.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

interface StoreCase {
  readonly platform: Platform;
  /** Fields that make evidence name a purchase the store does not have. */
  readonly unknown: object;
  /** Settings of a different app in the same store. */
  readonly foreignSettings: object;
  /** A refunded subscription; by default it ended for a reason of the customer. */
  readonly refunded?: object;
  /** Creates a product id in the format of the store, different for each number. */
  readonly createProductId?: (number: number) => string;
  /** Form of a body that names the product, if the default form requests all purchases. */
  readonly form?: string;
  readonly priceMicros?: number;
  /** Evidence can be used only once, so that later changes require a refresh. */
  readonly isSingleUse?: boolean;
}

const jws = 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln';
const stores: readonly StoreCase[] = [
  {
    platform: 'store_a',
    unknown: { jwsRepresentation: jws },
    foreignSettings: { bundleId: 'com.other' },
    form: 'product',
  },
  {
    platform: 'store_c',
    unknown: { storeId: '9NBLGGH5ZZZZ' },
    foreignSettings: { clientId: 'another-client' },
    // The store does not report a reason for a recurrence that ended with a refund.
    refunded: { isExpired: true, cancelationReason: 'Unknown' },
    createProductId: (number) => `9NBLGGH5W${String(number).padStart(3, '0')}`,
  },
  {
    platform: 'store_b',
    unknown: { purchaseToken: 'unknown', receipt: '', signature: '' },
    foreignSettings: { packageName: 'com.other' },
    // A refund without revocation does not end the access.
    refunded: { isExpired: false },
  },
  { platform: 'processor_a', unknown: { id: 'ch_unknown' }, foreignSettings: { secretKey: 'sk_test_another_account' } },
  {
    platform: 'service_processor_a',
    unknown: { id: 'ch_unknown' },
    foreignSettings: { secretKey: 'sk_test_another_account' },
  },
  {
    platform: 'processor_b',
    unknown: { paymentMethodNonce: 'unknown' },
    foreignSettings: { publicKey: 'another-key' },
    // Only products of the configured catalogue are sold.
    createProductId: () => 'monthly',
    priceMicros: 9_990_000,
    isSingleUse: true,
  },
];

const endedByCustomer = { isExpired: true, cancelationReason: expect.stringMatching(/^Customer/) };
const createDefaultProductId = (number: number) => `product-${number}`;

const service = startBeforeAll(startTestService);
afterEach(async () => {
  await service.clearFaults();
});

describe.each(stores)('$platform', (storeCase) => {
  const { platform, unknown, foreignSettings, form, refunded = endedByCustomer } = storeCase;
  const { createProductId = createDefaultProductId, priceMicros = 4_990_000, isSingleUse = false } = storeCase;
  let keys: IssuedApiKeys;
  let username = '';
  let purchaseCount = 0;
  beforeAll(async () => {
    keys = await service.createApp([platform]);
  });

  const validate = async (body: object, as = keys) => (await service.validate(as, body)).body;
  const buy = async (order: object = {}) => {
    username = `${platform}-${++purchaseCount}`;
    const product = { platform, productId: createProductId(purchaseCount), type: 'paid subscription' };
    return await service.callControl('/purchases', {
      ...product,
      applicationUsername: username,
      ...(form && { form }),
      ...order,
    });
  };
  const act = async (id: string, action: string) =>
    await service.callControl(`/purchases/${id}/${action}`, { ...(form && { form }) });
  const listPurchases = async () => {
    const params = { applicationUsername: username };
    const { body } = await callEndpoint(getCustomerPurchases, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params,
    });
    return Object.values<Record<string, unknown>>(body.purchases);
  };

  /** Runs the worker with a message of the refresh queue. */
  const refreshPurchase = async () => {
    const [purchase] = await listPurchases();
    const body = JSON.stringify({ appName: keys.appName, purchaseId: purchase?.purchaseId });
    const { batchItemFailures } = await refresh({ Records: [{ messageId: '1', body }] } as SQSEvent);
    expect(batchItemFailures).toEqual([]);
    return await listPurchases();
  };

  /** Validates evidence again after a change of the purchase. */
  const validateAgain = async (body: object) => {
    if (isSingleUse) await refreshPurchase();
    return await validate(body);
  };

  it('grants a paid purchase and returns it', async () => {
    const { validate: body } = await buy();
    expect(await validate(body)).toMatchObject({
      ok: true,
      data: { transaction: { type: body.transaction.type } },
    });
    expect(await listPurchases()).toMatchObject([
      { platform, isExpired: false, renewalIntent: 'Renew', amountMicros: priceMicros },
    ]);
  });

  it('returns the same response to the same evidence and stores one purchase', async () => {
    const { validate: body } = await buy();
    const [first, second] = [await validate(body), await validate(body)];
    expect(second.data.collection).toEqual(first.data.collection);
    expect(await listPurchases()).toHaveLength(1);
  });

  it('rejects evidence that the store does not have, without storing a purchase', async () => {
    const { validate: body } = await buy();
    const transaction = { ...body.transaction, ...unknown };
    expect(await validate({ ...body, transaction })).toMatchObject({ ok: false, code: 6778001 });
    expect(await listPurchases()).toEqual([]);
  });

  it('reports an expired subscription as expired', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    const { validate: expiredBody } = await act(id, 'expire');
    expect(await validateAgain(expiredBody)).toMatchObject({ ok: false, code: 6778003, status: 419 });
    expect(await listPurchases()).toMatchObject([{ isExpired: true }]);
  });

  it('keeps a canceled subscription active until its expiration date', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    expect(await validateAgain((await act(id, 'cancel')).validate)).toMatchObject({ ok: true });
    expect(await listPurchases()).toMatchObject([{ isExpired: false, renewalIntent: 'Lapse' }]);
  });

  it('keeps a subscription in grace period active and reports the failed payment', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    expect(await validateAgain((await act(id, 'fail-payment')).validate)).toMatchObject({ ok: true });
    expect(await listPurchases()).toMatchObject([{ isExpired: false, isBillingRetryPeriod: true }]);
  });

  it('reports a refunded purchase as its store does', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    await act(id, 'refund');
    expect(await refreshPurchase()).toMatchObject([refunded]);
  });

  it('records changes with a refresh', async () => {
    const { id, validate: body } = await buy();
    await validate(body);
    await act(id, 'cancel');
    expect(await refreshPurchase()).toMatchObject([{ isExpired: false, renewalIntent: 'Lapse' }]);
  });

  it('reports a trial period', async () => {
    const { validate: body } = await buy({ trial: true });
    expect(await validate(body)).toMatchObject({ ok: true, data: { collection: [{ isTrialPeriod: true }] } });
  });

  it.each(sampleItems(['down', 'rate-limited', 'html', 'cut'], 2, platform))(
    'does not deny a purchase during the fault %s, and grants it afterwards',
    async (fault) => {
      const { validate: body } = await buy();
      await service.callControl('/faults', { platform, fault, times: 30 });
      const duringFault = await validate(body);
      expect(duringFault.ok ? duringFault.data.warning : duringFault.code).toEqual(
        duringFault.ok ? expect.any(String) : 6778002,
      );
      await service.clearFaults();
      expect(await validate(body)).toMatchObject({ ok: true });
    },
  );

  it('rejects evidence of a different app', async () => {
    const { validate: body } = await buy();
    const other = await service.createApp([platform], foreignSettings);
    expect(await validate(body, other)).toMatchObject({ ok: false });
  });
});
