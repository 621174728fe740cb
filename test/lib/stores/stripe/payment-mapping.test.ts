import { describe, expect, it } from '@jest/globals';
import type * as v from 'valibot';
import { listRefundedAmounts, listRefundKeys } from '../../../../lib/purchases/refunds.ts';
import { toMicros } from '../../../../lib/stores/stripe/money.ts';
import type { Charge, Dispute, Product, Session } from '../../../../lib/stores/stripe/payloads.ts';
import { toChargeObservation, toPaymentObservations } from '../../../../lib/stores/stripe/payment-observation.ts';
import { indexCharges } from '../../../../lib/stores/stripe/payment-reversals.ts';
import {
  context,
  givenCharge,
  givenCreditNote,
  givenDispute,
  givenInvoice,
  givenRefund,
  givenSession,
  periodStart,
  startSeconds,
} from './stripe-fixtures.ts';

const givenProduct = (product_type?: string): Product => ({
  id: 'prod_basic',
  active: true,
  name: 'Basic',
  description: null,
  metadata: product_type === undefined ? {} : { product_type },
});

const givenSale = (type?: string, charges: readonly Charge[] = [], disputes: readonly Dispute[] = []) => ({
  mapping: context,
  ...indexCharges(charges, { disputes }),
  products: new Map([['prod_basic', givenProduct(type)]]),
});

function observe(
  state: Partial<v.InferInput<typeof Session>> = {},
  { type, disputes }: { type?: string; disputes?: readonly Dispute[] } = {},
) {
  const session = givenSession(state);
  const charge = typeof session.payment_intent === 'object' ? session.payment_intent?.latest_charge : undefined;
  const charges = typeof charge === 'object' && charge ? [charge] : [];
  return toPaymentObservations(session, givenSale(type, charges, disputes))[0];
}

const givenIntent = (charge: Partial<v.InferInput<typeof Charge>>) => {
  const { payment_intent } = givenSession();
  if (payment_intent === null || typeof payment_intent === 'string')
    throw new Error('The fixture must contain an expanded payment intent.');
  return {
    ...payment_intent,
    latest_charge: givenCharge({ id: 'ch_1', amount: 1497, created: startSeconds, payment_intent: 'pi_1', ...charge }),
  };
};

function throwMissing(): never {
  throw new Error('The observation is missing.');
}

describe('toPaymentObservations', () => {
  const common = {
    purchaseId: 'processor_a:pi_1',
    transactionId: 'processor_a:ch_1',
    productId: 'processor_a:prod_basic',
    offerId: 'processor_a:prod_basic#price_once',
    platform: 'processor_a',
    sandbox: false,
    purchaseDate: startSeconds * 1000,
    currency: 'USD',
    amountMicros: 14_970_000,
    quantity: 3,
  };

  it('maps all fields and no others', () => {
    expect(observe()).toEqual({
      asOf: context.now,
      purchase: { ...common, productType: 'consumable' },
      transactions: [common],
      userAliases: ['customer'],
      refreshToken: { id: 'cs_1', customer: 'cus_1' },
    });
  });

  it.each([
    ['non consumable', 'non consumable'],
    ['non_consumable', 'non consumable'],
    ['non renewing subscription', 'non renewing subscription'],
    ['custom type', 'consumable'],
  ])('maps metadata.product_type "%s" to the type "%s"', (productType, expected) => {
    expect(observe({}, { type: productType })?.purchase.productType).toBe(expected);
  });

  it('maps an unpaid payment to a pending purchase without a transaction', () => {
    const intent = { ...givenIntent({ status: 'pending' }), status: 'processing', amount_received: 0 };
    const observation = observe({ payment_status: 'unpaid', payment_intent: intent });
    expect(observation).toMatchObject({ purchase: { isPending: true }, transactions: [] });
  });

  it('maps a payment that was captured by hand, although its session stays unpaid', () => {
    const observation = observe({ payment_status: 'unpaid', payment_intent: givenIntent({ captured: true }) });
    expect(observation?.purchase).not.toHaveProperty('isPending');
    expect(observation?.transactions).toHaveLength(1);
    const intent = { ...givenIntent({ captured: false }), status: 'requires_capture', amount_received: 0 };
    const authorized = observe({ payment_status: 'unpaid', payment_intent: intent });
    expect(authorized).toMatchObject({ purchase: { isPending: true }, transactions: [] });
  });

  it.each([{ status: 'open' }, { status: 'expired' }])(
    'returns undefined for a session with the status $status',
    (state) => {
      expect(observe(state)).toBeUndefined();
    },
  );

  it('splits the tax of a session among its lines', () => {
    const [line] = givenSession().line_items?.data ?? [];
    const lines = [500, 997].map((amount_total, index) => ({
      ...line,
      id: `li_${index}`,
      amount_total,
      amount_tax: 40 + index,
    }));
    const session = givenSession({ total_details: { amount_tax: 81 }, line_items: { data: lines } as never });
    const taxes = toPaymentObservations(session, givenSale()).map(({ transactions }) => transactions[0]?.taxMicros);
    expect(taxes).toEqual([400_000, 410_000]);
  });

  it('identifies a free purchase by its session', () => {
    const observation = observe({ payment_intent: null, payment_status: 'no_payment_required', amount_total: 0 });
    expect(observation?.purchase).toMatchObject({
      purchaseId: 'processor_a:cs_1',
      transactionId: 'processor_a:cs_1',
      amountMicros: 0,
    });
  });

  it('maps the coupon to the discount id', () => {
    expect(observe({ discounts: [{ coupon: 'half', promotion_code: null }] })?.purchase.discountId).toBe('half');
  });

  it('ends a refunded purchase', () => {
    const observation = observe({
      payment_intent: givenIntent({
        refunded: true,
        refunds: { data: [givenRefund({ created: startSeconds + 60 })] },
      }),
    });
    expect(observation).toMatchObject({
      purchase: { endedAt: (startSeconds + 60) * 1000, cancelationReason: 'Customer' },
      transactions: [{ refundedAt: (startSeconds + 60) * 1000 }],
    });
  });

  it('keeps a partly refunded purchase', () => {
    const refunds = { data: [givenRefund({ id: 're_1', created: startSeconds + 60, amount: 500 })] };
    const observation = observe({ payment_intent: givenIntent({ refunds }) });
    expect(observation?.purchase).toEqual(observe()?.purchase);
    const partialRefunds = [{ id: 're_1', date: (startSeconds + 60) * 1000, amountMicros: 5_000_000 }];
    expect(observation?.transactions).toMatchObject([{ partialRefunds }]);
    expect(observation?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it.each([
    ['a part', [400], { refunded: undefined, parts: [4_000_000] }],
    ['all of it', [1497], { refunded: startSeconds + 60, parts: [] }],
    ['the rest after another refund', [1397], { refunded: startSeconds + 60, parts: [1_000_000] }],
    ['a credit to the balance', [0], { refunded: undefined, parts: [] }],
  ])('maps what a credit note of its invoice returned outside of Stripe: %s', (title, amounts, expected) => {
    const refunds = { data: title.includes('rest') ? [givenRefund({ id: 're_1', created: startSeconds + 30 })] : [] };
    const charge = givenIntent({ refunds }).latest_charge;
    const creditNotes = amounts.map((out_of_band_amount) =>
      givenCreditNote({ invoice: 'in_1', out_of_band_amount, created: startSeconds + 60 }),
    );
    const invoice = givenInvoice({ id: 'in_1', amount_paid: 1497, parent: null });
    const session = givenSession({ payment_intent: givenIntent({ refunds }), invoice });
    const sale = { ...givenSale(), ...indexCharges([charge], { creditNotes }) };
    const [{ purchase, transactions } = throwMissing()] = toPaymentObservations(session, sale);
    const { refundedAt, partialRefunds = [] } = transactions[0] ?? {};
    expect({
      refunded: refundedAt && refundedAt / 1000,
      parts: partialRefunds.map((part) => part.amountMicros),
    }).toEqual(expected);
    expect(purchase.endedAt).toBe(refundedAt);
  });

  it('ends a purchase with a lost dispute', () => {
    const disputes = [givenDispute({ status: 'lost', created: startSeconds + 90, charge: 'ch_1', amount: 1497 })];
    const observation = observe({ payment_intent: givenIntent({ disputed: true }) }, { disputes });
    expect(observation?.purchase).toMatchObject({ endedAt: (startSeconds + 90) * 1000, cancelationReason: 'System' });
  });

  it('maps each line item of a session to a purchase with its part of the payment, in any order', () => {
    const [line] = givenSession().line_items?.data ?? [];
    const sold = (id: string, product: string, total: number) => ({
      ...line,
      id,
      quantity: 1,
      amount_total: total,
      price: { ...line?.price, id: `price_${id}`, product },
    });
    const lines = [sold('li_1', 'prod_basic', 1000), sold('li_2', 'prod_extra', 497)];
    const refunds = { data: [givenRefund({ id: 're_1', amount: 300 })] };
    const read = (data: typeof lines) =>
      toPaymentObservations(givenSession({ line_items: { data } as never, payment_intent: givenIntent({ refunds }) }), {
        ...givenSale(undefined, [givenCharge({ id: 'ch_1', amount: 1497, refunds })]),
        mainProductId: 'prod_basic',
      });
    const observations = read(lines);
    expect(observations.map(({ purchase, transactions }) => [purchase, transactions])).toMatchObject([
      [
        { purchaseId: 'processor_a:pi_1', productId: 'processor_a:prod_basic' },
        [
          {
            transactionId: 'processor_a:ch_1',
            amountMicros: 10_000_000,
            partialRefunds: [{ amountMicros: 2_000_000 }],
          },
        ],
      ],
      [
        { purchaseId: 'processor_a:pi_1:li_2', productId: 'processor_a:prod_extra' },
        [
          {
            transactionId: 'processor_a:ch_1:li_2',
            amountMicros: 4_970_000,
            partialRefunds: [{ amountMicros: 1_000_000 }],
          },
        ],
      ],
    ]);
    expect(read([...lines].reverse())).toEqual(observations);
  });

  it('rejects a session that belongs to a different app', () => {
    expect(() => observe({ metadata: { app: 'another' } })).toThrow('another app');
  });
});

describe('toChargeObservation', () => {
  it('maps a charge with a product id in its metadata', () => {
    const charge = givenCharge({ metadata: { productId: 'prod_basic', applicationUsername: 'customer' } });
    expect(toChargeObservation(charge, givenSale())).toMatchObject({
      purchase: {
        purchaseId: 'processor_a:pi_3',
        transactionId: 'processor_a:ch_3',
        productId: 'processor_a:prod_basic',
        amountMicros: 9_980_000,
      },
      userAliases: ['customer'],
    });
  });

  it('rejects a charge without a product id, because the client could name any product', () => {
    expect(() => toChargeObservation(givenCharge(), givenSale())).toThrow('metadata.productId');
  });

  it.each([
    ['is pending until it is captured', false, { isPending: true }],
    ['is abandoned when the authorization is released', true, { isAbandoned: true }],
  ])('maps an authorized charge: it %s', (_title, refunded, state) => {
    const charge = givenCharge({ captured: false, refunded, metadata: { productId: 'prod_basic' } });
    const observation = toChargeObservation(charge, givenSale(undefined, [charge]));
    expect(observation).toMatchObject({ purchase: state, transactions: [] });
    expect(observation?.purchase).not.toHaveProperty('endedAt');
  });

  it('maps the captured part of an authorization', () => {
    const metadata = { productId: 'prod_basic' };
    const charge = givenCharge({ amount: 998, amount_captured: 700, captured: true, metadata });
    const observation = toChargeObservation(charge, givenSale(undefined, [charge]));
    expect(observation?.transactions).toMatchObject([{ amountMicros: 7_000_000 }]);
    const disputes = [givenDispute({ status: 'lost', amount: 700 })];
    const lost = toChargeObservation(charge, givenSale(undefined, [{ ...charge, disputed: true }], disputes));
    expect(lost?.transactions).toMatchObject([{ refundedAt: periodStart * 1000 }]);
  });

  const release = givenRefund({ id: 're_1', amount: 298, created: periodStart });
  const toRefund = (amount: number) => givenRefund({ id: 're_2', amount, created: periodStart + 60 });
  it.each([
    ['the rest is released', [release], []],
    ['a part is refunded', [toRefund(200), release], [2_000_000]],
    ['all of it is refunded', [toRefund(700), release], [7_000_000]],
    ['a part is refunded, and the release is not listed', [toRefund(200)], [2_000_000]],
  ])('refunds the captured part of an authorization only: %s', (_title, data, amounts) => {
    const refunded = data.some(({ amount }) => amount === 700);
    const state = { amount: 998, amount_captured: 700, captured: true, refunded, refunds: { data } };
    const charge = givenCharge({ ...state, metadata: { productId: 'prod_basic' } });
    const { purchase, transactions } = toChargeObservation(charge, givenSale(undefined, [charge])) ?? throwMissing();
    const refunds = transactions.flatMap(listRefundedAmounts);
    expect(refunds.map(({ date, amountMicros }) => [date / 1000 - periodStart, amountMicros])).toEqual(
      amounts.map((amountMicros) => [60, amountMicros]),
    );
    expect(listRefundKeys(transactions)).toHaveLength(amounts.length);
    expect(purchase.endedAt).toBe(refunded ? (periodStart + 60) * 1000 : undefined);
  });

  it('counts a full refund of half an authorization, and a release is not listed', () => {
    const refunds = { data: [toRefund(499)] };
    const state = { amount: 998, amount_captured: 499, captured: true, refunded: true, refunds };
    const charge = givenCharge({ ...state, metadata: { productId: 'prod_basic' } });
    const { purchase, transactions } = toChargeObservation(charge, givenSale(undefined, [charge])) ?? throwMissing();
    expect(transactions.flatMap(listRefundedAmounts)).toMatchObject([{ amountMicros: 4_990_000 }]);
    expect(purchase.endedAt).toBe((periodStart + 60) * 1000);
  });

  it.each([
    ['is pending until the bank confirms it', 'pending', true, null, { isPending: true }],
    ['is pending although Stripe does not call it paid', 'pending', false, null, { isPending: true }],
    ['is abandoned when it fails days later', 'failed', false, 'txn_1', { isAbandoned: true }],
  ])('maps a debit: it %s', (_title, status, paid, reversal, state) => {
    const metadata = { productId: 'prod_basic' };
    const charge = givenCharge({ status, paid, captured: true, failure_balance_transaction: reversal, metadata });
    const observation = toChargeObservation(charge, givenSale(undefined, [charge]));
    expect(observation).toMatchObject({ purchase: state, transactions: [] });
    expect(observation?.purchase).not.toHaveProperty('endedAt');
  });

  it('returns undefined for a failed charge', () => {
    expect(
      toChargeObservation(givenCharge({ paid: false, metadata: { productId: 'prod_basic' } }), givenSale()),
    ).toBeUndefined();
  });
});

describe('toMicros (Stripe)', () => {
  it.each([
    ['usd', 499, 4_990_000],
    ['jpy', 500, 500_000_000],
    ['krw', 1, 1_000_000],
    ['clp', 7, 7_000_000],
    ['kwd', 1_250, 1_250_000],
    ['isk', 10_000, 100_000_000],
    ['ugx', 500, 5_000_000],
  ])('converts %s %d to %d micros', (currency, amount, micros) => {
    expect(toMicros(amount, currency)).toBe(micros);
  });
});
