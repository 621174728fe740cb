import { describe, expect, it, test } from '@jest/globals';
import type * as v from 'valibot';
import { toMicros } from '../../../../lib/stores/processor-a/money.ts';
import type { Charge, Dispute, Product, Session } from '../../../../lib/stores/processor-a/payloads.ts';
import { toChargeObservation, toPaymentObservation } from '../../../../lib/stores/processor-a/payment-observation.ts';
import { bought, givenCharge, givenSession, origin } from './stripe-fixtures.ts';

const product = (product_type?: string): Product => ({
  id: 'prod_basic',
  active: true,
  name: 'Basic',
  description: null,
  metadata: product_type === undefined ? {} : { product_type },
});

const sold = (type?: string, disputes: readonly Dispute[] = []) => ({
  origin,
  disputes,
  products: new Map([['prod_basic', product(type)]]),
});

const look = (state: Partial<v.InferInput<typeof Session>> = {}, sale = sold()) =>
  toPaymentObservation(givenSession(state), sale);

const intent = (charge: Partial<v.InferInput<typeof Charge>>) => {
  const { payment_intent } = givenSession();
  if (payment_intent === null || typeof payment_intent === 'string') throw new Error('The sample is expanded');
  return {
    ...payment_intent,
    latest_charge: givenCharge({ id: 'ch_1', amount: 1497, created: bought, payment_intent: 'pi_1', ...charge }),
  };
};

describe('a payment', () => {
  const common = {
    purchaseId: 'processor_a:pi_1',
    transactionId: 'processor_a:ch_1',
    productId: 'processor_a:prod_basic',
    offerId: 'processor_a:prod_basic#price_once',
    platform: 'processor_a',
    sandbox: false,
    purchaseDate: bought * 1000,
    currency: 'USD',
    amountMicros: 14_970_000,
    quantity: 3,
  };

  it('maps every field, and no other', () => {
    expect(look()).toEqual({
      asOf: origin.now,
      purchase: { ...common, productType: 'consumable' },
      transactions: [common],
      userTokens: ['buyer'],
      refreshToken: { id: 'cs_1', customer: 'cus_1' },
    });
  });

  test.each([
    ['non consumable', 'non consumable'],
    ['non_consumable', 'non consumable'],
    ['non renewing subscription', 'non renewing subscription'],
    ['a word of the seller', 'consumable'],
  ])('of a product of the type %s', (said, expected) => {
    expect(look({}, sold(said))?.purchase.productType).toBe(expected);
  });

  it('that is on its way is pending and no transaction yet', () => {
    const seen = look({ payment_status: 'unpaid' });
    expect(seen).toMatchObject({ purchase: { isPending: true }, transactions: [] });
  });

  it.each([{ status: 'open' }, { status: 'expired' }])('is none while the session is $status', (state) => {
    expect(look(state)).toBeUndefined();
  });

  it('that was free is known by its session', () => {
    const seen = look({ payment_intent: null, payment_status: 'no_payment_required', amount_total: 0 });
    expect(seen?.purchase).toMatchObject({
      purchaseId: 'processor_a:cs_1',
      transactionId: 'processor_a:cs_1',
      amountMicros: 0,
    });
  });

  it('names its discount', () => {
    expect(look({ discounts: [{ coupon: 'half', promotion_code: null }] })?.purchase.discountId).toBe('half');
  });

  it('that was refunded is taken away', () => {
    const seen = look({
      payment_intent: intent({ refunded: true, refunds: { data: [{ created: bought + 60, status: 'succeeded' }] } }),
    });
    expect(seen).toMatchObject({
      purchase: { endedAt: (bought + 60) * 1000, cancelationReason: 'Customer' },
      transactions: [{ refundedAt: (bought + 60) * 1000 }],
    });
  });

  it('whose dispute was lost is taken away', () => {
    const disputes = [{ status: 'lost', created: bought + 90, charge: 'ch_1' }];
    const seen = look({ payment_intent: intent({ disputed: true }) }, sold(undefined, disputes));
    expect(seen?.purchase).toMatchObject({ endedAt: (bought + 90) * 1000, cancelationReason: 'System' });
  });

  it('for another application is refused', () => {
    expect(() => look({ metadata: { app: 'another' } })).toThrow('another application');
  });
});

describe('a charge without a session', () => {
  it('is for the product that its seller wrote down', () => {
    const charge = givenCharge({ metadata: { productId: 'prod_basic', applicationUsername: 'buyer' } });
    expect(toChargeObservation(charge, sold())).toMatchObject({
      purchase: {
        purchaseId: 'processor_a:pi_3',
        transactionId: 'processor_a:ch_3',
        productId: 'processor_a:prod_basic',
        amountMicros: 9_980_000,
      },
      userTokens: ['buyer'],
    });
  });

  it('is refused when nobody wrote one: the client could name any', () => {
    expect(() => toChargeObservation(givenCharge(), sold())).toThrow('which product');
  });

  it('is nothing when it failed', () => {
    expect(
      toChargeObservation(givenCharge({ paid: false, metadata: { productId: 'prod_basic' } }), sold()),
    ).toBeUndefined();
  });
});

test.each([
  ['usd', 499, 4_990_000],
  ['jpy', 500, 500_000_000],
  ['krw', 1, 1_000_000],
  ['clp', 7, 7_000_000],
  ['kwd', 1_250, 1_250_000],
  ['isk', 10_000, 100_000_000],
  ['ugx', 500, 5_000_000],
])('%s %d is %d micros', (currency, amount, micros) => {
  expect(toMicros(amount, currency)).toBe(micros);
});
