import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../../../lib/foundation/get-service.ts';
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

  it('counts what is lost of a dispute that is won in part', async () => {
    const { id } = await service.buy();
    await service.act(id, 'dispute');
    await service.act(id, 'win-dispute', { amountMicros: 3_000_000 });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false });
    expect((await listTransactions(id)).flatMap(listRefundedAmounts)).toMatchObject([{ amountMicros: 1_990_000 }]);
  });

  it('counts a refund until it fails', async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    for (const amountMicros of [2_000_000, 8_000_000]) await service.act(id, 'refund', { amountMicros });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false });
    const sumRefunds = async () =>
      (await listTransactions(id))
        .flatMap(listRefundedAmounts)
        .reduce((sum, refund) => sum + (refund.amountMicros ?? 0), 0);
    expect(await sumRefunds()).toBe(10_000_000);
    await service.act(id, 'reverse-refund');
    await validateAndFind(id);
    expect(await sumRefunds()).toBe(2_000_000);
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
});
