import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { deps } from '../../../../composition/deps.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import { type CheckoutService, startCheckoutService } from './checkout-fixture.ts';

let service: CheckoutService;
beforeAll(async () => {
  service = await startCheckoutService();
});
afterAll(() => service.close());

/** Validates a purchase and returns its stored state. */
async function validateAndFind(id: string): Promise<Purchase> {
  expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
  const purchase = await service.findStoredPurchase(id);
  if (!purchase) throw new Error(`The purchase ${id} is not found.`);
  return purchase;
}

describe('POST /v1/validate (Stripe subscription)', () => {
  it('adds a transaction after a renewal', async () => {
    const { id } = await service.buy();
    const first = await service.validatePurchase(id);
    await service.callControl('/clock', { advance: 'P1M' });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
    await service.act(id, 'renew');
    const second = await service.validatePurchase(id);
    expect(second.data.collection[0].expiryDate).toBeGreaterThan(first.data.collection[0].expiryDate);
    expect(second.data.collection[0]).toHaveProperty('lastRenewalDate');
    expect(await deps().purchases.listTransactions(service.keys.appName, [`processor_a:${id}`])).toHaveLength(2);
  });

  it('keeps a canceled subscription active until its period ends', async () => {
    const { id } = await service.buy();
    await service.act(id, 'cancel');
    const running = await service.validatePurchase(id);
    expect(running.data.collection[0]).toMatchObject({ renewalIntent: 'Lapse', isExpired: false });
    expect(running.data.collection[0]).not.toHaveProperty('cancelationReason');
    await service.act(id, 'uncancel');
    expect((await service.validatePurchase(id)).data.collection[0].renewalIntent).toBe('Renew');
    await service.act(id, 'cancel');
    await service.callControl('/clock', { advance: 'P1M' });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
    expect((await service.findStoredPurchase(id))?.cancelationReason).toBe('Customer');
  });

  it('keeps access during the grace period after a failed payment', async () => {
    const { id } = await service.buy();
    await service.callControl('/clock', { advance: 'P1M' });
    await service.act(id, 'fail-payment');
    expect((await service.validatePurchase(id)).data.collection[0]).toMatchObject({
      isBillingRetryPeriod: true,
      isExpired: false,
    });
    await service.callControl('/clock', { advance: 'P8D' });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
    await service.act(id, 'recover');
    expect((await service.validatePurchase(id)).data.collection[0]).toMatchObject({
      isBillingRetryPeriod: false,
      isExpired: false,
    });
  });

  it('ends access immediately after a failed payment without a grace period', async () => {
    const { id } = await service.buy();
    await service.callControl('/clock', { advance: 'P1M' });
    await service.act(id, 'fail-payment', { grace: false });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
    expect((await service.findStoredPurchase(id))?.cancelationReason).toBe('System.BillingError');
  });

  test.each([
    ['refund', 'Customer'],
    ['revoke', 'System'],
  ])('revokes access after a %s', async (action, reason) => {
    const { id } = await service.buy();
    await service.validatePurchase(id);
    await service.callControl('/clock', { advance: 'P1D' });
    await service.act(id, action);
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, status: 419, code: 6778003 });
    expect((await service.findStoredPurchase(id))?.cancelationReason).toBe(reason);
  });

  it('rejects a paused subscription until it resumes', async () => {
    const { id } = await service.buy();
    await service.act(id, 'pause');
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
    expect(await service.findStoredPurchase(id)).toMatchObject({ isPaused: true, cancelationReason: 'PAUSED' });
    await service.act(id, 'resume');
    expect((await service.validatePurchase(id)).data.collection[0]).toMatchObject({ isExpired: false });
  });

  it('keeps access while payment collection is paused, also in the next period', async () => {
    const { id } = await service.buy({ autoRenew: true });
    const { expirationDate, transactionId } = await validateAndFind(id);
    await service.act(id, 'pause-collection', { period: 'P2M' });
    await service.callControl('/clock', { advance: 'P40D' });
    const paused = await validateAndFind(id);
    expect(paused).toMatchObject({ transactionId, renewalIntent: 'Renew' });
    for (const field of ['isPaused', 'cancelationReason', 'autoResumeDate', 'lastRenewalDate']) {
      expect(paused).not.toHaveProperty(field);
    }
    expect(paused.expirationDate).toBeGreaterThan(expirationDate ?? Number.POSITIVE_INFINITY);
    await service.callControl('/clock', { advance: 'P60D' });
    const resumed = await validateAndFind(id);
    expect(resumed.transactionId).not.toBe(transactionId);
    expect(resumed.lastRenewalDate).toEqual(expect.any(Number));
  });

  it('returns a product whose trial was used as ineligible, also after a renewal and a plan change', async () => {
    const { id } = await service.buy({ trial: 'P14D' });
    const listIneligible = async (): Promise<string[]> =>
      (await service.validatePurchase(id)).data.ineligible_for_intro_price;
    expect(await listIneligible()).toEqual(['plan']);
    await service.act(id, 'renew');
    expect(await listIneligible()).toEqual(['plan']);
    await service.act(id, 'change-plan', { productId: 'bigger', priceMicros: 9_990_000 });
    expect(await listIneligible()).toEqual(['plan']);
  });

  it('returns no ineligible product without a trial', async () => {
    const { id } = await service.buy();
    expect((await service.validatePurchase(id)).data.ineligible_for_intro_price).toEqual([]);
  });

  it('records a free trial as a transaction with the amount 0', async () => {
    const { id } = await service.buy({ trial: 'P14D' });
    expect((await service.validatePurchase(id)).data.collection[0]).toMatchObject({
      isTrialPeriod: true,
      isExpired: false,
    });
    expect(await deps().purchases.listTransactions(service.keys.appName, [`processor_a:${id}`])).toMatchObject([
      { amountMicros: 0, isTrialPeriod: true },
    ]);
  });

  it('returns the new product after a plan change', async () => {
    const { id } = await service.buy();
    await service.validatePurchase(id);
    await service.act(id, 'change-plan', { productId: 'bigger', priceMicros: 9_990_000 });
    const { validate } = await service.callControl(`/purchases/${id}?form=purchase`);
    expect(validate.id).toBe('bigger');
    expect((await service.validate(service.keys, validate)).body.data.collection).toMatchObject([
      { id: 'bigger', purchaseId: id },
    ]);
  });

  it('records each item of a subscription with its part of each payment, and ends a removed item', async () => {
    const items = [{ productId: 'add-on', priceMicros: 5_000_000 }];
    const { id, validate } = await service.buy({ productId: 'base', priceMicros: 10_000_000, items });
    const validateItem = async (product: string) =>
      (await service.validate(service.keys, { ...validate, id: product })).body;
    const { data } = await validateItem('add-on');
    expect(data.collection).toMatchObject([
      { id: 'base', purchaseId: id, isExpired: false },
      { id: 'add-on', purchaseId: expect.stringMatching(`^${id}:si_`), isExpired: false },
    ]);
    const purchaseIds = data.collection.map(({ purchaseId }: { purchaseId: string }) => `processor_a:${purchaseId}`);
    await service.callControl('/clock', { advance: 'P1M' });
    await service.act(id, 'renew');
    await service.act(id, 'remove-item', { productId: 'add-on' });
    expect(await validateItem('base')).toMatchObject({ ok: true });
    expect(await validateItem('add-on')).toMatchObject({ ok: false, code: 6778003 });
    const transactions = await deps().purchases.listTransactions(service.keys.appName, purchaseIds);
    expect(transactions.map(({ productId, amountMicros }) => `${productId} ${amountMicros}`).toSorted()).toEqual([
      'processor_a:add-on 5000000',
      'processor_a:add-on 5000000',
      'processor_a:base 10000000',
      'processor_a:base 10000000',
    ]);
  });

  it('counts the funds of an open dispute as refunded until it is won', async () => {
    const { id } = await service.buy();
    const readRefunds = async () => {
      expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
      const transactions = await deps().purchases.listTransactions(service.keys.appName, [`processor_a:${id}`]);
      return transactions.flatMap(listRefundedAmounts);
    };
    expect(await readRefunds()).toEqual([]);
    await service.act(id, 'dispute');
    expect(await readRefunds()).toMatchObject([{ amountMicros: 4_990_000 }]);
    await service.act(id, 'win-dispute');
    expect(await readRefunds()).toEqual([]);
  });

  it('refreshes a subscription by its refresh token', async () => {
    const { id } = await service.buy();
    await service.act(id, 'cancel');
    const store = await deps().loadStore('processor_a');
    const observations = await store.refresh?.({ id }, await service.createContext());
    expect(observations).toMatchObject([{ purchase: { purchaseId: `processor_a:${id}`, renewalIntent: 'Lapse' } }]);
  });
});
