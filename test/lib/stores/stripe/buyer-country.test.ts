import { describe, expect, it } from '@jest/globals';
import { toChargeObservation } from '../../../../lib/stores/stripe/payment-observation.ts';
import { indexCharges } from '../../../../lib/stores/stripe/payment-reversals.ts';
import { context, givenCharge, givenInvoice, givenLines, observe } from './stripe-fixtures.ts';

const card = { payment_method_details: { card: { country: 'FR' } } };
const billing = { billing_details: { address: { country: 'AT' } } };

describe('toSubscriptionObservations: country', () => {
  it.each([
    ['the address of the invoice', { customer_address: { country: 'DE' } }, { ...card, ...billing }, 'DE'],
    ['the billing address of the charge', { customer_address: { country: null } }, { ...card, ...billing }, 'AT'],
    ['the card of the charge', {}, card, 'FR'],
    ['no source', {}, {}, undefined],
  ])('use the country of %s', (_source, invoice, charge, expected) => {
    const { transactions } = observe({}, { invoices: [givenInvoice(invoice)], charges: [givenCharge(charge)] });
    expect(transactions[0]?.storefront).toBe(expected);
  });
});

describe('toChargeObservation: country', () => {
  it('use the country of the card', () => {
    const charge = givenCharge({ ...card, metadata: { productId: 'prod_basic' } });
    const observation = toChargeObservation(charge, { context, ...indexCharges([charge], []), products: new Map() });
    expect(observation?.transactions[0]?.storefront).toBe('FR');
  });
});

describe('toSubscriptionObservations: offer', () => {
  const [line] = givenInvoice().lines.data;

  it('use the discount of an invoice', () => {
    const invoice = givenInvoice({ lines: { data: [{ ...line, discount_amounts: [{ amount: 100 }] }] } as never });
    expect(observe({}, { invoices: [invoice] }).transactions[0]).toMatchObject({ offerType: 'discount' });
  });

  it('use the trial of an invoice without amount, with its length', () => {
    const end = line?.period.end ?? 0;
    const trial = givenInvoice({ amount_paid: 0, lines: givenLines({ amount: 0 }) });
    const { transactions } = observe({ status: 'trialing', trial_end: end }, { invoices: [trial] });
    expect(transactions[0]).toMatchObject({ isTrialPeriod: true, offerType: 'trial', offerPeriod: 'P31D' });
  });
});
