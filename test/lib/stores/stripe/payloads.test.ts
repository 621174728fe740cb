import { describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import * as v from 'valibot';
import { buildPrice, buildProduct } from '../../../../emulator/stripe/catalogue.ts';
import { buildInvoice, buildInvoicePayment } from '../../../../emulator/stripe/invoice-objects.ts';
import { buildCharge, buildPaymentIntent } from '../../../../emulator/stripe/payment-objects.ts';
import { buildDispute, buildRefund } from '../../../../emulator/stripe/reversal-objects.ts';
import { buildAddress, buildLineItem, buildSession } from '../../../../emulator/stripe/session-objects.ts';
import { buildSubscription } from '../../../../emulator/stripe/subscription-objects.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import {
  Charge,
  Dispute,
  Invoice,
  PaymentIntent,
  Price,
  Product,
  parseStripeObject,
  Session,
  Subscription,
} from '../../../../lib/stores/stripe/payloads.ts';
import { toPaymentObservations } from '../../../../lib/stores/stripe/payment-observation.ts';
import { indexCharges } from '../../../../lib/stores/stripe/payment-reversals.ts';
import { apiVersion } from '../../../../lib/stores/stripe/stripe-client.ts';
import { toSubscriptionObservations } from '../../../../lib/stores/stripe/subscription-observation.ts';
import { checkVariants } from '../../../../testing/list-variants.ts';
import { describeWithVectors, readVector } from '../../../../testing/vectors.ts';
import { context, now } from './stripe-fixtures.ts';

const schemas = {
  subscription: Subscription,
  invoice: Invoice,
  charge: Charge,
  dispute: Dispute,
  payment_intent: PaymentIntent,
  'checkout.session': Session,
  price: Price,
  product: Product,
};
type Name = keyof typeof schemas;

/** Compiles only if the schemas accept every object of the official types. */
type AcceptedBy<S extends v.GenericSchema, T extends v.InferInput<S>> = T;
type Official = {
  readonly subscription: AcceptedBy<typeof Subscription, Stripe.Subscription>;
  readonly invoice: AcceptedBy<typeof Invoice, Stripe.Invoice>;
  readonly charge: AcceptedBy<typeof Charge, Stripe.Charge>;
  readonly dispute: AcceptedBy<typeof Dispute, Stripe.Dispute>;
  readonly payment_intent: AcceptedBy<typeof PaymentIntent, Stripe.PaymentIntent>;
  readonly 'checkout.session': AcceptedBy<typeof Session, Stripe.Checkout.Session>;
  readonly price: AcceptedBy<typeof Price, Stripe.Price>;
  readonly product: AcceptedBy<typeof Product, Stripe.Product>;
};
const names = Object.keys(schemas) as (Name & keyof Official)[];

it('uses the API version of the official types', () => {
  const version: Stripe.LatestApiVersion = apiVersion;
  expect(version).toMatch(/^\d{4}-\d{2}-\d{2}\.\w+$/);
});

describeWithVectors('payload schemas (Stripe)', () => {
  it.each(names)('accepts the official fixture %s', (name) => {
    const sample = JSON.parse(readVector('stripe', 'fixtures', `${name}.json`).toString('utf8'));
    const result = v.safeParse<v.GenericSchema>(schemas[name], sample);
    expect(result.issues?.map((issue) => v.getDotPath(issue))).toBeUndefined();
    expect(result.output).toMatchObject(name === 'dispute' ? { status: sample.status } : { id: sample.id });
  });
});

const at = now - dayMs;
const info = { at, livemode: true };
const recurring = { interval: 'month' as const, interval_count: 1 };
const price = buildPrice({ product: 'plan', currency: 'USD', amount: 500, recurring }, info);
const oncePrice = buildPrice({ product: 'once', currency: 'USD', amount: 500, recurring: null }, info);
const end = now + 30 * dayMs;
const payment = { at, livemode: true, amount: 500, currency: 'usd', customer: 'cus_1', metadata: {}, country: 'DE' };

const charge: Stripe.Charge = {
  ...buildCharge(payment, 'ch_1', 'pi_1', 'succeeded'),
  disputed: true,
  amount_refunded: 100,
};
const refunds = { object: 'list' as const, data: [buildRefund(charge, 100, at)], has_more: false, url: '/' };
const subscription = buildSubscription('sub_1', {
  at,
  customer: 'cus_1',
  items: [{ price, quantity: 1, end }],
  metadata: { applicationUsername: 'ann' },
  trialEnd: undefined,
  latestInvoice: 'in_1',
});
const line = {
  item: subscription.items.data[0]?.id ?? '',
  price,
  amount: 500,
  quantity: 1,
  start: at,
  end,
  isProration: false,
};
const unpaidInvoice = buildInvoice('in_1', {
  at,
  subscription: { id: 'sub_1', metadata: {}, daysUntilDue: null, taxRates: [] },
  customer: 'cus_1',
  reason: 'subscription_create',
  lines: [line],
  outcome: 'paid',
  address: buildAddress('DE'),
  startingBalance: 0,
});
const invoicePayment = buildInvoicePayment(unpaidInvoice, 'pi_1', at);
const invoice = { ...unpaidInvoice, payments: { object: 'list', data: [invoicePayment], has_more: false, url: '/' } };
const sessionInput = {
  mode: 'payment' as const,
  livemode: true,
  lines: [buildLineItem(oncePrice, { quantity: 1, description: 'once' })],
  customer: 'cus_1',
  clientReferenceId: 'ann',
  successUrl: null,
  cancelUrl: null,
  metadata: {},
  customerCreation: null,
};

/** One object of each type that the adapter reads, with all members of the official types. */
const objects = {
  subscription: { ...subscription, latest_invoice: invoice },
  invoice,
  charge: { ...charge, refunds },
  dispute: buildDispute(charge, 400, at),
  session: {
    ...buildSession(at, sessionInput, () => 'https://checkout.stripe.com/'),
    status: 'complete',
    payment_status: 'paid',
    payment_intent: {
      ...buildPaymentIntent(payment, 'pi_1', 'ch_1', 'succeeded'),
      latest_charge: { ...charge, refunds },
    },
    line_items: { object: 'list', data: sessionInput.lines, has_more: false, url: '/' },
  },
  product: buildProduct({ id: 'once', name: 'Once', metadata: { product_type: 'non consumable' } }, info),
};

/** Maps a subscription and a one-time sale. */
function observe(input: Readonly<Record<keyof typeof objects, unknown>>): Observation[] {
  const charges = [parseStripeObject(Charge, input.charge)];
  const index = indexCharges(charges, { disputes: [parseStripeObject(Dispute, input.dispute)] });
  const invoices = [parseStripeObject(Invoice, input.invoice)];
  const product = parseStripeObject(Product, input.product);
  return [
    ...toSubscriptionObservations(parseStripeObject(Subscription, input.subscription), {
      mapping: context,
      invoices,
      ...index,
    }),
    ...toPaymentObservations(parseStripeObject(Session, input.session), {
      mapping: context,
      ...index,
      products: new Map([[product.id, product]]),
    }),
  ];
}

const toAccess = (observations: readonly Observation[]) =>
  observations.map(({ purchase }) => [purchase.purchaseId, purchase.productId, isExpired(purchase, now)]);

/** Members that decide about a purchase, its product and its access. */
const decisive: Readonly<Record<keyof typeof objects, RegExp>> = {
  subscription:
    /^(id|status|items(\.data(\.0(\.(id|current_period_(start|end)|price(\.(id|product))?))?)?)?)$|^latest_invoice\.id$/,
  invoice: /^(id|lines\.data\.0\.(period(\.(start|end))?|parent\.subscription_item_details\.subscription_item))$/,
  charge: /^(id|amount|refunded|paid)$/,
  dispute: /^id$/,
  session:
    /^(id|mode|status|payment_status|payment_intent(\.id)?|line_items(\.data(\.0(\.price(\.(id|product))?)?)?)?)$/,
  product: /^id$/,
};

describe('Stripe object with a null, absent or unknown value', () => {
  it.each(Object.keys(objects) as (keyof typeof objects)[])('gives the same access: %s', (name) => {
    const expected = toAccess(observe(objects));
    expect(expected.map(([, , isEnded]) => isEnded)).toEqual([false, false]);
    const read = (object: unknown) => toAccess(observe({ ...objects, [name]: object }));
    const { count, failures } = checkVariants(objects[name], decisive[name], read);
    expect(count).toBeGreaterThan(20);
    expect(failures).toEqual([]);
  });
});
