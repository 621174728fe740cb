import { describe, expect, it } from '@jest/globals';
import { createState } from '../../../../emulator/braintree/merchant-state.ts';
import type { Payment } from '../../../../emulator/braintree/records.ts';
import { toPaymentView, toSubscriptionView } from '../../../../emulator/braintree/views.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { BraintreeTransaction, parseBraintreeObject, Subscription } from '../../../../lib/stores/braintree/payloads.ts';
import { toPaymentObservations } from '../../../../lib/stores/braintree/payment-observation.ts';
import { toSubscriptionObservation } from '../../../../lib/stores/braintree/subscription-observation.ts';
import { checkVariants } from '../../../../testing/list-variants.ts';

const now = Date.parse('2027-03-10T12:00:00Z');
const start = Date.parse('2027-03-01');
const context = {
  productId: 'plan',
  productTypes: {},
  sandbox: true,
  timeZone: 'America/Chicago',
  graceMs: 0,
  asOf: now,
};
const payment: Payment = {
  id: 'pay1',
  type: 'sale',
  status: 'settled',
  amount: '9.99',
  currency: 'USD',
  customerId: '1',
  subscriptionId: 'sub1',
  billingPeriod: [start, start + 30 * dayMs],
  createdAt: start,
  updatedAt: start,
  refundIds: ['ref1'],
  response: { code: '1000', text: 'Approved' },
  disputes: [{ id: 'dispute', kind: 'chargeback', openedAt: start, status: 'won' }],
};
const state = createState();
state.payments.set(payment.id, payment);
const objects = {
  transaction: toPaymentView(payment, now),
  subscription: toSubscriptionView(
    state,
    {
      id: 'sub1',
      planId: 'plan',
      token: 'token',
      customerId: '1',
      status: 'Active',
      price: '9.99',
      currency: 'USD',
      createdAt: start,
      updatedAt: start,
      firstBilling: start,
      months: 1,
      cycles: 1,
      isTrial: false,
      autoRenew: true,
      history: [{ status: 'Active', timestamp: start }],
      payments: ['pay1'],
    },
    now,
  ),
};

const observe = ({ transaction, subscription }: Readonly<Record<keyof typeof objects, unknown>>): Observation[] => [
  ...toPaymentObservations(parseBraintreeObject(BraintreeTransaction, transaction), [], context),
  toSubscriptionObservation(parseBraintreeObject(Subscription, subscription), [], context),
];
const toAccess = (observations: readonly Observation[]) =>
  observations.map(({ purchase }) => [purchase.purchaseId, purchase.productId, isExpired(purchase, now)]);

/** Members that decide whether there is a purchase, and whether it gives access. */
const decisive: Readonly<Record<keyof typeof objects, RegExp>> = {
  transaction: /^(id|type|status|amount)$/,
  subscription: /^(id|status|paidThroughDate|transactions(\.0(\.(id|type|status|amount))?)?)$/,
};

describe('Braintree object with a null, absent or unknown value', () => {
  it.each(Object.keys(objects) as (keyof typeof objects)[])('gives the same access: %s', (name) => {
    const expected = toAccess(observe(objects));
    expect(expected.map(([, , isEnded]) => isEnded)).toEqual([false, false]);
    const read = (object: unknown) => toAccess(observe({ ...objects, [name]: object }));
    const { count, failures } = checkVariants(objects[name], decisive[name], read);
    expect(count).toBeGreaterThan(20);
    expect(failures).toEqual([]);
  });
});
