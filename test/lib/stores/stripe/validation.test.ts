import { afterEach, describe, expect, it, test } from '@jest/globals';
import { getService } from '../../../../lib/foundation/get-service.ts';
import { findPurchase, listTransactionsOfPurchases } from '../../../../lib/purchases/purchase-table.ts';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { loadStore } from '../../../../lib/stores/index.ts';
import type { ActionRequest } from '../../../../lib/stores/purchase-action.ts';
import { findRejection } from '../../../../lib/stores/settings.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { fetchObservations } from '../../../../lib/stores/stripe/fetch-observations.ts';
import { openStripeAccount } from '../../../../lib/stores/stripe/stripe-account.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startCheckoutService } from './checkout-fixture.ts';

const service = startBeforeAll(startCheckoutService);
afterEach(async () => {
  await service.clearFaults();
});

describe('POST /v1/validate (Stripe)', () => {
  test.each(['charge', 'brand', 'purchase'])('returns the purchase for evidence of the form %s', async (form) => {
    const { id } = await service.buy();
    const body = await service.validatePurchase(id, form);
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
  ])('accepts the id of a %s', async (_kind, prefix) => {
    const { id, sessionId, validate } = await service.buy();
    const { data } = await service.validatePurchase(id);
    const ids: Record<string, string> = {
      sub: id,
      in: data.transaction.transactionId,
      cs: sessionId,
      pi: await fetchIntentId(validate),
    };
    const body = { ...validate, transaction: { ...validate.transaction, id: `stripe:${ids[prefix]}` } };
    expect((await service.validate(service.keys, body)).body).toMatchObject({
      ok: true,
      data: { collection: [{ purchaseId: id }] },
    });
  });

  it('returns a one-time purchase without an expiration date', async () => {
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
      data: { collection: [{ id: 'coins', purchaseId: id, quantity: 3 }] },
    });
    const stored = await findPurchase(getService(), service.keys.appName, `processor_a:${id}`);
    expect(stored?.purchase).toMatchObject({
      amountMicros: 6_000_000,
      currency: 'JPY',
      sandbox: true,
      productType: 'consumable',
    });
    expect(stored?.purchase).not.toHaveProperty('expirationDate');
  });

  it('rejects a purchase if the request names a different product', async () => {
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
  ])('rejects the id %s', async (id) => {
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

async function fetchIntentId({ transaction }: { transaction: { id: string } }): Promise<string> {
  return (await service.fetchFromStripe(`charges/${transaction.id}`)).payment_intent;
}

const listTransactions = async (id: string): Promise<readonly Transaction[]> =>
  await listTransactionsOfPurchases(getService(), service.keys.appName, [`processor_a:${id}`]);

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

  it.each<[string, object, string]>([
    ['renews before the last period of its schedule', { end: 'P3M' }, 'Renew'],
    ['lapses in the last period of its schedule', {}, 'Lapse'],
    ['lapses with a schedule that ends within its period', { end: 'P10D' }, 'Lapse'],
  ])('%s', async (_title, details, renewalIntent) => {
    const { id } = await service.buy();
    await service.act(id, 'schedule-end', details);
    expect(await service.validatePurchase(id)).toMatchObject({ data: { collection: [{ renewalIntent }] } });
  });

  it('counts what is lost of a dispute that is won in part', async () => {
    const { id } = await service.buy();
    await service.act(id, 'dispute');
    await service.act(id, 'win-dispute', { amountMicros: 3_000_000 });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
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
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
    expect(await sumRefunds()).toBe(2_000_000);
  });

  it('refunds each payment of an invoice by an action', async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    await service.act(id, 'split-payment');
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
    const purchase = await service.findStoredPurchase(id);
    const [payment] = await listTransactions(id);
    const store = await loadStore('processor_a');
    const refund = async (requestId: string, amountMicros?: number) =>
      await store.performAction?.(
        {
          action: 'refund',
          purchase,
          payment,
          requestId,
          ...(amountMicros && { amountMicros, isPart: true }),
        } as ActionRequest,
        await service.createContext(),
      );
    expect(await refund('request-1', 2_000_000)).toMatchObject({ amountMicros: 2_000_000 });
    await expect(refund('request-2', 6_000_000)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await refund('request-3')).toMatchObject({ amountMicros: 8_000_000 });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
  });
});

describe('a payment outside of Stripe that is refunded without a credit note', () => {
  const pay = async () => {
    const { id } = await service.buy({ priceMicros: 10_000_000, collection: 'send_invoice' });
    await service.act(id, 'pay', { record: true });
    return id;
  };

  it.each<[string, number | undefined, object]>([
    ['keeps access after a part', 4_000_000, { ok: true }],
    ['ends with all of it', undefined, { ok: false, code: 6778003 }],
  ])('%s', async (_title, amountMicros, expected) => {
    const id = await pay();
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
    await service.act(id, 'refund-outside', { record: true, ...(amountMicros && { amountMicros }) });
    expect(await service.validatePurchase(id)).toMatchObject(expected);
    const refunds = (await listTransactions(id)).flatMap(listRefundedAmounts);
    expect(refunds).toMatchObject([{ amountMicros: amountMicros ?? 10_000_000 }]);
  });

  it.each([
    [403, {}],
    [404, { code: 'resource_missing' }],
  ])('keeps the payment if Stripe responds with %s to the query of the record', async (status, code) => {
    const id = await pay();
    await service.act(id, 'refund-outside', { record: true });
    const context = await service.createContext();
    const fetch: StoreFetch = async (url, init) => {
      if (!url.includes('/payment_records/')) return await context.fetch(url, init);
      const text = JSON.stringify({ error: { type: 'invalid_request_error', message: 'No access.', ...code } });
      return { status, headers: {}, text };
    };
    const observations = await fetchObservations(id, openStripeAccount('processor_a', { ...context, fetch }));
    expect(observations).toMatchObject([{ transactions: [{ amountMicros: 10_000_000 }] }]);
    expect(observations[0]?.purchase).not.toHaveProperty('endedAt');
  });
});

describe('refund of the rest of an invoice with several payments', () => {
  it.each([
    ['nothing was returned', undefined, 10_000_000],
    ['a part was returned outside of Stripe', 2_000_000, 8_000_000],
  ])('returns the amount that is left if %s', async (_title, returned, left) => {
    const { id } = await service.buy({ priceMicros: 10_000_000 });
    await service.act(id, 'split-payment');
    if (returned !== undefined) await service.act(id, 'refund-outside', { amountMicros: returned });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
    const [payment] = await listTransactions(id);
    const store = await loadStore('processor_a');
    const request = { action: 'refund', payment, requestId: id, isPart: false, amountMicros: left } as ActionRequest;
    const context = await service.createContext();
    expect(await store.performAction?.(request, context)).toMatchObject({ amountMicros: left });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false, code: 6778003 });
    const refunds = (await listTransactions(id)).flatMap(listRefundedAmounts);
    expect(refunds.reduce((sum, refund) => sum + (refund.amountMicros ?? 0), 0)).toBe(10_000_000);
  });
});

describe('one-time purchase whose payment is captured by hand (Stripe)', () => {
  const authorize = async () => {
    const order = { type: 'non consumable', productId: 'game', priceMicros: 10_000_000, capture: 'manual' };
    const { id } = await service.buy(order);
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false });
    return id;
  };
  const listPayments = async (id: string) =>
    (await listTransactions(id)).map((transaction) => [
      transaction.amountMicros,
      listRefundedAmounts(transaction).map(({ amountMicros }) => amountMicros),
    ]);

  it.each([undefined, 7_000_000])('counts what is captured, which a refund returns: %s', async (amountMicros) => {
    const id = await authorize();
    const total = amountMicros ?? 10_000_000;
    const captured = await service.act(id, 'pay', { amountMicros });
    expect(captured).toMatchObject({ paidMicros: total, refundedMicros: 0, payments: [{ refunds: [] }] });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
    expect(await listPayments(id)).toEqual([[total, []]]);
    expect(await service.act(id, 'refund')).toMatchObject({ paidMicros: total, refundedMicros: total });
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false });
    expect(await listPayments(id)).toEqual([[total, [total]]]);
  });

  it('is abandoned when its authorization is released', async () => {
    const id = await authorize();
    await service.act(id, 'abandon');
    expect(await service.validatePurchase(id)).toMatchObject({ ok: false });
    expect(await service.findStoredPurchase(id)).toMatchObject({ isAbandoned: true });
    expect(await listPayments(id)).toEqual([]);
  });
});

describe('one-time purchase with an invoice (Stripe)', () => {
  const coins = { productId: 'coins', type: 'consumable', priceMicros: 10_000_000, invoiceCreation: true };

  it.each<[string, readonly number[], object]>([
    ['keeps access after a part', [4_000_000], { ok: true }],
    ['ends with the rest', [4_000_000, 6_000_000], { ok: false, code: 6778003 }],
  ])('returns what a credit note returned outside of Stripe: it %s', async (_title, parts, expected) => {
    const { id } = await service.buy(coins);
    await service.validatePurchase(id);
    for (const amountMicros of parts) await service.act(id, 'refund-outside', { amountMicros });
    expect(await service.validatePurchase(id)).toMatchObject(expected);
    const refunds = (await listTransactions(id)).flatMap(listRefundedAmounts);
    expect(refunds.map(({ amountMicros }) => amountMicros)).toEqual(parts);
  });

  it('names its invoice as a subject, which is in the events of credit notes', async () => {
    const { id, sessionId } = await service.buy({ ...coins, pending: true });
    await service.act(id, 'pay');
    const { invoice } = await service.fetchFromStripe(`checkout/sessions/${sessionId}`);
    const observations = await fetchObservations(
      invoice,
      openStripeAccount('processor_a', await service.createContext()),
    );
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual([`processor_a:${id}`]);
  });
});

describe('invoice that was paid by a charge before payment intents', () => {
  /** Stripe has payment intents of the invoices since March 15, 2019. */
  async function buyEarly() {
    const bought = await service.buy({ priceMicros: 10_000_000 });
    const context = await service.createContext();
    const charge: string = bought.validate.transaction.id;
    const fetch: StoreFetch = async (url, init) => {
      const response = await context.fetch(url, init);
      const text = response.text
        .replaceAll(
          /"payment":{"payment_intent":"\w+","type":"payment_intent"}/g,
          `"payment":{"charge":"${charge}","type":"charge"}`,
        )
        .replaceAll(/"payment_intent":"\w+"/g, '"payment_intent":null');
      return { ...response, text };
    };
    return { ...bought, charge, context: { ...context, fetch } };
  }

  it('validates by its charge', async () => {
    const { id, charge, context } = await buyEarly();
    const store = await loadStore('processor_a');
    expect(await store.refresh?.({ id: charge }, context)).toMatchObject([
      { purchase: { purchaseId: `processor_a:${id}` }, transactions: [{ amountMicros: 10_000_000 }] },
    ]);
  });

  it('accepts a refund by an action, which ends the access', async () => {
    const { id, charge, context } = await buyEarly();
    expect(await service.validatePurchase(id)).toMatchObject({ ok: true });
    const purchase = await service.findStoredPurchase(id);
    const [payment] = await listTransactions(id);
    const store = await loadStore('processor_a');
    const request = { action: 'refund', purchase, payment, requestId: id } as ActionRequest;
    expect(await store.performAction?.(request, context)).toMatchObject({ amountMicros: 10_000_000 });
    expect(await store.refresh?.({ id: charge }, context)).toMatchObject([
      { purchase: { cancelationReason: 'Customer' }, transactions: [{ refundedAt: expect.any(Number) }] },
    ]);
  });
});

describe('checkSettings (Stripe)', () => {
  it('checks the format and the secret key', async () => {
    const store = await loadStore('processor_a');
    const context = await service.createContext();
    expect(await store.checkSettings(context, { callStore: false })).toMatch(/live key/);
    expect(await store.checkSettings(context, { callStore: true })).toMatch(/accepts/);
    const malformed = store.checkSettings(
      { ...context, settings: { secretKey: 'pk_live_public' } },
      { callStore: false },
    );
    await expect(malformed).rejects.toMatchObject({ code: 'InvalidPayload' });
    const rejected = store.checkSettings(
      { ...context, settings: { secretKey: 'sk_live_other_account' } },
      { callStore: true },
    );
    await expect(rejected).rejects.toMatchObject({
      code: 'InternalError',
      message: 'Stripe rejected the settings: secretKey is not valid.',
    });
  });

  it('names every missing permission to read', async () => {
    const store = await loadStore('processor_a');
    const context = await service.createContext();
    const fetch: StoreFetch = async (url, init) => {
      const [, name] = /\/v1\/(coupon|dispute)s\?/.exec(url) ?? [];
      if (name === undefined) return await context.fetch(url, init);
      const message = `Having the 'rak_${name}_read' permission would allow this request to continue.`;
      const text = JSON.stringify({ error: { type: 'invalid_request_error', message } });
      return { status: 403, headers: {}, text };
    };
    const error: unknown = await store.checkSettings({ ...context, fetch }, { callStore: true }).catch((e) => e);
    const rejection = findRejection(error);
    expect(rejection && store.describeRejection(rejection, context.settings).problem).toBe(
      'The restricted live key of Stripe lacks permissions: rak_coupon_read, rak_dispute_read.',
    );
  });
});
