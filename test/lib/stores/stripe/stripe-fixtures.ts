import type * as v from 'valibot';
import { parse } from '../../../../lib/foundation/parse.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import type { MappingContext } from '../../../../lib/stores/stripe/mapping-context.ts';
import {
  Charge,
  CreditNote,
  Dispute,
  Invoice,
  PaymentRecord,
  Price,
  Refund,
  Session,
  Subscription,
} from '../../../../lib/stores/stripe/payloads.ts';
import { indexCharges } from '../../../../lib/stores/stripe/payment-reversals.ts';
import { toSubscriptionObservations } from '../../../../lib/stores/stripe/subscription-observation.ts';

/** Time of every observation, in epoch milliseconds. */
export const now = Date.parse('2027-03-10T12:00:00Z');

/** Start of the subscription and of its current period, in epoch seconds. */
export const startSeconds = Date.parse('2027-01-01T00:00:00Z') / 1000;
const earlierStart = Date.parse('2027-02-01T00:00:00Z') / 1000;
export const periodStart = Date.parse('2027-03-01T00:00:00Z') / 1000;
export const periodEnd = Date.parse('2027-04-01T00:00:00Z') / 1000;

export const context: MappingContext = { platform: 'processor_a', appName: 'app', graceMs: 7 * dayMs, now };

const price = {
  id: 'price_month',
  active: true,
  currency: 'usd',
  product: 'prod_basic',
  recurring: { interval: 'month', interval_count: 1, trial_period_days: null },
  unit_amount: 499,
  unit_amount_decimal: null,
  metadata: {},
};

export const givenPrice = (state: Partial<v.InferInput<typeof Price>> = {}): Price =>
  parse(Price, { ...price, ...state });

/** A monthly subscription in its third period, with the members of `state` replaced. */
export const givenSubscription = (state: Partial<v.InferInput<typeof Subscription>> = {}): Subscription =>
  parse(Subscription, {
    id: 'sub_1',
    status: 'active',
    livemode: true,
    customer: 'cus_1',
    created: startSeconds,
    start_date: startSeconds,
    trial_end: null,
    canceled_at: null,
    cancel_at: null,
    cancel_at_period_end: false,
    ended_at: null,
    cancellation_details: { reason: null, feedback: null },
    discounts: [],
    metadata: { app: 'app', applicationUsername: 'customer' },
    latest_invoice: 'in_3',
    items: {
      data: [{ id: 'si_1', quantity: 2, current_period_start: periodStart, current_period_end: periodEnd, price }],
    },
    ...state,
  });

/** The paid invoice of the third period. */
export const givenInvoice = (state: Partial<v.InferInput<typeof Invoice>> = {}): Invoice =>
  parse(Invoice, {
    id: 'in_3',
    status: 'paid',
    amount_paid: 998,
    currency: 'usd',
    created: periodStart,
    billing_reason: 'subscription_cycle',
    parent: { subscription_details: { subscription: 'sub_1' } },
    status_transitions: { paid_at: periodStart + 60 },
    lines: {
      data: [
        {
          amount: 998,
          period: { start: periodStart, end: periodEnd },
          quantity: 2,
          parent: { subscription_item_details: { proration: false } },
          pricing: { price_details: { price: 'price_month', product: 'prod_basic' } },
        },
      ],
    },
    payments: { data: [{ payment: { payment_intent: 'pi_3' } }] },
    ...state,
  });

/** Returns the lines of an invoice with members of its line replaced. */
export const givenLines = (line: object): never => {
  const [template] = givenInvoice().lines.data;
  return { data: [{ ...template, ...line }] } as never;
};

/** The paid invoice of the second period. */
export const givenEarlierInvoice = (state: Partial<v.InferInput<typeof Invoice>> = {}): Invoice =>
  givenInvoice({
    id: 'in_2',
    created: earlierStart,
    status_transitions: { paid_at: earlierStart + 60 },
    lines: givenLines({ period: { start: earlierStart, end: periodStart } }),
    payments: { data: [{ payment: { payment_intent: 'pi_2' } }] },
    ...state,
  });

/** The open invoice of the third period. */
export const givenOpenInvoice = (state: Partial<v.InferInput<typeof Invoice>> = {}): Invoice =>
  givenInvoice({ status: 'open', amount_paid: 0, status_transitions: { paid_at: null }, ...state });

/** The charge of the invoice. */
export const givenCharge = (state: Partial<v.InferInput<typeof Charge>> = {}): Charge =>
  parse(Charge, {
    id: 'ch_3',
    amount: 998,
    refunded: false,
    disputed: false,
    paid: true,
    created: periodStart,
    currency: 'usd',
    livemode: true,
    customer: 'cus_1',
    payment_intent: 'pi_3',
    metadata: {},
    refunds: null,
    ...state,
  });

/** A dispute of the charge that needs a response, before funds are withdrawn. */
export const givenDispute = (state: Partial<v.InferInput<typeof Dispute>> = {}): Dispute =>
  parse(Dispute, {
    id: 'dp_3',
    status: 'needs_response',
    created: periodStart,
    charge: 'ch_3',
    amount: 998,
    balance_transactions: [],
    ...state,
  });

/** A credit note that returned 1 USD outside of Stripe. */
export const givenCreditNote = (state: Partial<v.InferInput<typeof CreditNote>> = {}): CreditNote =>
  parse(CreditNote, {
    id: 'cn_1',
    invoice: 'in_2',
    status: 'issued',
    created: periodStart,
    out_of_band_amount: 100,
    refunds: [],
    ...state,
  });

/** The record of a payment of 10 USD that was made outside of Stripe. 3 USD were refunded. */
export const givenPaymentRecord = (state: Partial<v.InferInput<typeof PaymentRecord>> = {}): PaymentRecord =>
  parse(PaymentRecord, { id: 'pr_1', amount: { value: 1000 }, amount_refunded: { value: 300 }, ...state });

interface BillingInput {
  readonly invoices?: readonly Invoice[];
  readonly charges?: readonly Charge[];
  readonly disputes?: readonly Dispute[];
  readonly creditNotes?: readonly CreditNote[];
  readonly paymentRecords?: readonly PaymentRecord[];
  readonly mainProductId?: string;
  readonly mapping?: MappingContext;
}

/** Maps the items of a subscription, by default with its invoice and its charge. */
export const observeItems = (
  state: Partial<v.InferInput<typeof Subscription>> = {},
  {
    invoices = [givenInvoice()],
    charges = [givenCharge()],
    disputes = [],
    creditNotes = [],
    paymentRecords = [],
    mainProductId,
    mapping = context,
  }: BillingInput = {},
): Observation[] =>
  toSubscriptionObservations(givenSubscription(state), {
    mapping,
    invoices,
    ...indexCharges(charges, { disputes, creditNotes, paymentRecords }),
    mainProductId,
  });

/** Maps the main item of a subscription. */
export const observe = (...input: Parameters<typeof observeItems>): Observation => {
  const [observation] = observeItems(...input);
  if (!observation) throw new Error('The observation is missing.');
  return observation;
};

/** A succeeded refund of 1 USD. */
export const givenRefund = (state: Partial<v.InferInput<typeof Refund>> = {}): Refund =>
  parse(Refund, { id: 're_3', amount: 100, created: periodStart, status: 'succeeded', ...state });

/** A complete checkout session of a one-time sale with the quantity 3. */
export const givenSession = (state: Partial<v.InferInput<typeof Session>> = {}): Session =>
  parse(Session, {
    id: 'cs_1',
    mode: 'payment',
    status: 'complete',
    payment_status: 'paid',
    created: startSeconds,
    livemode: true,
    currency: 'usd',
    amount_total: 1497,
    client_reference_id: 'customer',
    customer: 'cus_1',
    subscription: null,
    payment_intent: {
      id: 'pi_1',
      status: 'succeeded',
      amount_received: 1497,
      currency: 'usd',
      created: startSeconds,
      livemode: true,
      customer: 'cus_1',
      metadata: {},
      latest_charge: givenCharge({ id: 'ch_1', amount: 1497, created: startSeconds, payment_intent: 'pi_1' }),
    },
    metadata: { app: 'app' },
    discounts: null,
    line_items: { data: [{ quantity: 3, price: { ...price, id: 'price_once', recurring: null } }] },
    ...state,
  });
