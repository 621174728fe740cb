import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { getService } from '../../../../lib/foundation/container.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { listTransactionsOfPurchases } from '../../../../lib/purchases/purchase-table.ts';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { loadStore } from '../../../../lib/stores/index.ts';
import type { ActionRequest } from '../../../../lib/stores/purchase-action.ts';
import { type CheckoutService, startCheckoutService } from './checkout-fixture.ts';

let service: CheckoutService;
beforeAll(async () => {
  service = await startCheckoutService();
  await configureAccount({ listLength: 2 });
});
afterAll(() => service.close());

/** Changes settings of the emulated account. Its objects contain the first two elements of their lists. */
const configureAccount = async (settings: object): Promise<unknown> =>
  await fetch(`${service.emulatorUrl}/control/accounts/processor_a`, { method: 'PUT', body: JSON.stringify(settings) });

const listTransactions = async (id: string): Promise<readonly Transaction[]> =>
  await listTransactionsOfPurchases(getService(), service.keys.appName, [`processor_a:${id}`]);

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
    expect(await listTransactionsOfPurchases(getService(), service.keys.appName, [`processor_a:${id}`])).toHaveLength(
      2,
    );
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

  it('returns a product whose trial was used as ineligible, even after a renewal and a plan change', async () => {
    const { id } = await service.buy({ trial: 'P14D' });
    const listIneligible = async (): Promise<string[]> =>
      (await service.validatePurchase(id)).data.ineligible_for_intro_price;
    expect(await listIneligible()).toEqual(['plan']);
    await service.act(id, 'renew');
    expect(await listIneligible()).toEqual(['plan']);
    await service.act(id, 'change-plan', { productId: 'bigger', priceMicros: 9_990_000 });
    expect(await listIneligible()).toEqual(['plan']);
  });

  it('keeps a trial of a price that was never billed as a used trial during a second one', async () => {
    const { id } = await service.buy({ trial: 'P7D', autoRenew: true });
    await service.act(id, 'change-plan', { productId: 'second-plan', priceMicros: 9_990_000 });
    await service.callControl('/clock', { advance: 'P8D' });
    await service.act(id, 'move-trial', { end: 'P1M' });
    await service.validatePurchase(id);
    const trials = (await listTransactions(id)).map(({ isTrialPeriod = false, amountMicros }) => [
      isTrialPeriod,
      amountMicros,
    ]);
    expect(trials.sort()).toEqual([
      [false, 9_990_000],
      [true, 0],
    ]);
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
    expect(await listTransactionsOfPurchases(getService(), service.keys.appName, [`processor_a:${id}`])).toMatchObject([
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
    const transactions = await listTransactionsOfPurchases(getService(), service.keys.appName, purchaseIds);
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
      const transactions = await listTransactionsOfPurchases(getService(), service.keys.appName, [`processor_a:${id}`]);
      return transactions.flatMap(listRefundedAmounts);
    };
    expect(await readRefunds()).toEqual([]);
    await service.act(id, 'dispute');
    expect(await readRefunds()).toMatchObject([{ amountMicros: 4_990_000 }]);
    await service.act(id, 'win-dispute');
    expect(await readRefunds()).toEqual([]);
  });

  it('splits an invoice with more lines than its list contains', async () => {
    const items = ['second', 'third', 'fourth'].map((productId) => ({ productId, priceMicros: 5_000_000 }));
    const { id } = await service.buy({ productId: 'first', priceMicros: 10_000_000, items });
    const { data } = await service.validatePurchase(id);
    expect(data.collection).toHaveLength(4);
    const ids = data.collection.map(({ purchaseId }: { purchaseId: string }) => `processor_a:${purchaseId}`);
    const transactions = await listTransactionsOfPurchases(getService(), service.keys.appName, ids);
    expect(transactions.map(({ amountMicros = 0 }) => amountMicros / 1_000_000).toSorted()).toEqual([10, 5, 5, 5]);
  });

  it('reads all refunds of a payment', async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    for (let count = 0; count < 3; count += 1) await service.act(id, 'refund', { amountMicros: 1_000_000 });
    await validateAndFind(id);
    const refunds = (await listTransactions(id)).flatMap(listRefundedAmounts);
    expect(refunds.map(({ amountMicros }) => amountMicros)).toEqual([1_000_000, 1_000_000, 1_000_000]);
  });

  it('keeps access after the refund of one of two payments, and ends it after that of both', async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    await service.act(id, 'split-payment');
    await service.act(id, 'refund', { payment: 1 });
    expect(await validateAndFind(id)).not.toHaveProperty('endedAt');
    const [payment] = await listTransactions(id);
    expect(payment && listRefundedAmounts(payment)).toMatchObject([{ amountMicros: 5_000_000 }]);
    await service.act(id, 'refund', { payment: 2 });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
  });

  it('refunds each payment of an invoice by an action', async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    await service.act(id, 'split-payment');
    const purchase = await validateAndFind(id);
    const [payment] = await listTransactions(id);
    const store = await loadStore('processor_a');
    const refund = async (requestId: string, amountMicros?: number) =>
      await store.performAction?.(
        { action: 'refund', purchase, payment, requestId, ...(amountMicros && { amountMicros }) } as ActionRequest,
        await service.createContext(),
      );
    expect(await refund('request-1', 2_000_000)).toMatchObject({ amountMicros: 2_000_000 });
    await expect(refund('request-2', 6_000_000)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await refund('request-3')).toMatchObject({ amountMicros: 8_000_000 });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
  });

  it('keeps access after the refund of an extra invoice, whose amount pays no period', async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    await service.act(id, 'extra-invoice', { priceMicros: 3_000_000 });
    await service.act(id, 'refund', { payment: 2 });
    expect(await validateAndFind(id)).not.toHaveProperty('endedAt');
    const [period, extra] = (await listTransactions(id)).toSorted(
      (a, b) => (b.amountMicros ?? 0) - (a.amountMicros ?? 0),
    );
    expect(period).not.toHaveProperty('refundedAt');
    expect(extra).toMatchObject({ amountMicros: 3_000_000, refundedAt: expect.any(Number) });
    expect(extra).not.toHaveProperty('expirationDate');
  });

  it.each(['past_due', 'unpaid', 'cancel'])(
    'ends access once if the account makes overdue subscriptions %s',
    async (failedPayments) => {
      await configureAccount({ failedPayments });
      const { id } = await service.buy({ autoRenew: true });
      const { expirationDate: paidUntil = 0 } = await validateAndFind(id);
      await service.callControl('/clock', { advance: 'P27D' });
      await service.act(id, 'fail-payment');
      const ends: unknown[] = [];
      for (const period of ['P6D', 'P12D', 'P31D', 'P31D']) {
        await service.callControl('/clock', { advance: period });
        await service.validatePurchase(id);
        ends.push((await service.findStoredPurchase(id))?.expirationDate);
      }
      expect(new Set(ends)).toEqual(new Set([paidUntil + 7 * dayMs]));
      expect(await listTransactions(id)).toHaveLength(1);
      await configureAccount({ failedPayments: 'unpaid' });
    },
  );

  it('starts the grace when a debit fails days after the renewal', async () => {
    const { id } = await service.buy();
    const { expirationDate: paidUntil = 0 } = await validateAndFind(id);
    await service.callControl('/clock', { advance: 'P1M' });
    await service.act(id, 'renew', { pending: true });
    await service.callControl('/clock', { advance: 'P9D' });
    await service.act(id, 'fail-payment');
    const { expirationDate = 0, isBillingRetryPeriod } = await validateAndFind(id);
    expect(isBillingRetryPeriod).toBe(true);
    expect(Math.round((expirationDate - paidUntil) / dayMs)).toBe(16);
  });

  it('starts the grace at the due date of an emailed invoice', async () => {
    const { id } = await service.buy({ collection: 'send_invoice', daysUntilDue: 10, autoRenew: true });
    const { purchaseDate = 0 } = await validateAndFind(id);
    await service.callControl('/clock', { advance: 'P11D' });
    expect(await validateAndFind(id)).toMatchObject({
      isBillingRetryPeriod: true,
      expirationDate: purchaseDate + 17 * dayMs,
    });
  });

  it('refreshes a subscription by its refresh token', async () => {
    const { id } = await service.buy();
    await service.act(id, 'cancel');
    const store = await loadStore('processor_a');
    const observations = await store.refresh?.({ id }, await service.createContext());
    expect(observations).toMatchObject([{ purchase: { purchaseId: `processor_a:${id}`, renewalIntent: 'Lapse' } }]);
  });
});
