import type Stripe from 'stripe';
import { controlError } from '../control-error.ts';
import { generateId, getId, getObject, type SessionOptions, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { paymentEvents } from './billing.ts';
import { buildCharge, buildPaymentIntent } from './payment-objects.ts';
import { invoiceSession } from './session-invoice.ts';
import { buildAddress, buildCustomer } from './session-objects.ts';
import { startSubscription } from './start-subscription.ts';

interface CheckoutPayment {
  readonly session: Stripe.Checkout.Session;
  readonly lines: readonly Stripe.LineItem[];
  readonly options: SessionOptions;
  readonly customer: string | null;
  readonly at: number;
  readonly isPending: boolean;
}

/**
 * Completes a checkout session, paid or with a delayed payment method whose payment is pending. Returns the id of the
 * purchase.
 *
 * @see https://docs.stripe.com/payments/checkout/fulfill-orders
 */
export function payCheckout(state: AccountState, sessionId: string, isPending = false): string {
  const { records } = state;
  const session = records.objects['checkout/sessions'].get(sessionId);
  if (session === undefined) throw controlError(404, `Checkout session ${sessionId} is not found.`);
  if (session.status !== 'open') throw controlError(422, `The session is ${session.status}.`);
  const lines = records.lineItems.get(sessionId) ?? [];
  const options = records.sessionOptions.get(sessionId);
  if (lines.length === 0 || !options) throw new Error(`The line items of ${sessionId} are missing`);
  const at = state.now();
  const { country = defaultCountry } = options;
  const payment = {
    session,
    lines,
    options,
    customer: getOrCreateCustomer(state, session, { at, country }),
    at,
    isPending,
  };
  const isFree = session.amount_total === 0;
  if (isPending && isFree) throw controlError(422, 'pending: a free trial or product does not have a payment.');
  const result = session.mode === 'subscription' ? subscribe(state, payment) : payOnce(state, payment);
  const complete: Stripe.Checkout.Session = {
    ...session,
    ...result,
    customer: payment.customer,
    customer_details: buildCustomerDetails(country),
    status: 'complete',
    payment_status: isFree ? 'no_payment_required' : isPending ? 'unpaid' : 'paid',
    url: null,
  };
  saveObject(records, 'checkout/sessions', complete);
  const purchaseId = getId(result.subscription ?? result.payment_intent) || sessionId;
  emitEvent(state, 'checkout.session.completed', { purchaseId, at, object: complete });
  return purchaseId;
}

/** Country of a customer whose country is not set. */
export const defaultCountry = 'US';

const buildCustomerDetails = (country: string): Stripe.Checkout.Session.CustomerDetails => ({
  address: buildAddress(country),
  business_name: null,
  email: customerEmail,
  individual_name: null,
  name: null,
  phone: null,
  tax_exempt: 'none',
  tax_ids: [],
});

/** Email address of all customers. */
export const customerEmail = 'customer@example.com';

function getOrCreateCustomer(
  { records }: AccountState,
  session: Stripe.Checkout.Session,
  { at, country }: { at: number; country: string },
): string | null {
  if (session.customer !== null) return getId(session.customer);
  if (session.mode === 'payment' && session.customer_creation !== 'always') return null;
  return saveObject(
    records,
    'customers',
    buildCustomer(at, { livemode: session.livemode, email: customerEmail, country }),
  ).id;
}

function subscribe(state: AccountState, { lines, options, customer, at, isPending }: CheckoutPayment) {
  const { metadata, trialDays, autoRenew, taxRate } = options;
  const { id, latest_invoice } = startSubscription(state, {
    at,
    customer: customer ?? '',
    lines: lines.flatMap(({ price, quantity }) => (price ? [{ price, quantity: quantity ?? 1 }] : [])),
    trialDays,
    metadata,
    autoRenew,
    isPending,
    taxRates: taxRate === undefined ? [] : [getObject(state.records, 'tax_rates', taxRate)],
  });
  return { subscription: id, invoice: getId(latest_invoice), payment_intent: null };
}

function payOnce(state: AccountState, { session, options, customer, at, isPending }: CheckoutPayment) {
  const amount = session.amount_total ?? 0;
  if (amount === 0) return { subscription: null, payment_intent: null, invoice: null };
  const [intent, charge] = [generateId('pi'), generateId('ch')];
  const { livemode, currency } = session;
  const { metadata, country = defaultCountry } = options;
  const input = { at, livemode, amount, currency: currency ?? 'usd', customer, metadata, country };
  const status = !isPending ? 'succeeded' : options.isAuthorized ? 'authorized' : 'pending';
  const payment = saveObject(state.records, 'payment_intents', buildPaymentIntent(input, intent, charge, status));
  saveObject(state.records, 'charges', buildCharge(input, charge, intent, status));
  emitEvent(state, paymentEvents[status], { purchaseId: intent, at, object: payment });
  const invoice = isPending ? null : invoiceSession(state, session, { intent, customer, at });
  return { subscription: null, payment_intent: intent, invoice };
}

/** Expires an unpaid checkout session. */
export function expireCheckout(
  state: AccountState,
  session: Stripe.Checkout.Session,
  at: number,
): Stripe.Checkout.Session {
  const expired = saveObject(state.records, 'checkout/sessions', { ...session, status: 'expired', url: null });
  emitEvent(state, 'checkout.session.expired', { purchaseId: session.id, at, object: expired });
  return expired;
}
