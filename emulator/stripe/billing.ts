import type Stripe from 'stripe';
import { addPeriod, secondMs } from '../calendar.ts';
import { generateId, getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { type BillingReason, buildInvoice, buildInvoicePayment, type InvoiceLineInput } from './invoice-objects.ts';
import { buildCharge, buildPaymentIntent, type PaymentStatus } from './payment-objects.ts';
import { getEarliestEnd, withItems, withPeriod } from './subscription-objects.ts';

interface BillingInput {
  readonly at: number;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineInput[];
  readonly isPaid: boolean;
  /** Whether the payment is pending instead of failed. Only for an unpaid invoice. */
  readonly isPending?: boolean;
}

/**
 * Creates an invoice and a successful, pending or failed payment. Returns the subscription with its new latest invoice.
 */
export function billSubscription(
  state: AccountState,
  subscription: Stripe.Subscription,
  { at, reason, lines, isPaid, isPending = false }: BillingInput,
): Stripe.Subscription {
  const customer = getId(subscription.customer);
  const { id, metadata } = subscription;
  const payer = getObject(state.records, 'customers', customer);
  const invoice = buildInvoice(generateId('in'), {
    at,
    subscription: { id, metadata },
    customer,
    reason,
    lines,
    isPaid,
    address: payer.address ?? null,
    startingBalance: payer.balance,
  });
  saveObject(state.records, 'invoices', invoice);
  saveObject(state.records, 'customers', { ...payer, balance: invoice.ending_balance ?? 0 });
  const status = isPaid ? 'succeeded' : isPending ? 'pending' : 'failed';
  if (invoice.amount_due > 0) savePayment(state, invoice, { purchaseId: id, at, status });
  if (!isPending)
    emitEvent(state, isPaid ? 'invoice.paid' : 'invoice.payment_failed', { purchaseId: id, at, object: invoice });
  return { ...subscription, latest_invoice: invoice.id };
}

function savePayment(
  state: AccountState,
  invoice: Stripe.Invoice,
  { purchaseId, at, status }: { purchaseId: string; at: number; status: PaymentStatus },
): void {
  const { records } = state;
  const [intent, charge] = [generateId('pi'), generateId('ch')];
  const { livemode, currency, amount_due: amount } = invoice;
  const country = invoice.customer_address?.country ?? null;
  const input = { at, livemode, amount, currency, customer: getId(invoice.customer), metadata: {}, country };
  const payment = saveObject(records, 'payment_intents', buildPaymentIntent(input, intent, charge, status));
  saveObject(records, 'charges', buildCharge(input, charge, intent, status));
  saveObject(records, 'invoice_payments', buildInvoicePayment(invoice, intent, at));
  emitEvent(state, paymentEvents[status], { purchaseId, at, object: payment });
}

/** Event of a payment intent by the status of its payment. */
export const paymentEvents = {
  succeeded: 'payment_intent.succeeded',
  pending: 'payment_intent.processing',
  failed: 'payment_intent.payment_failed',
} as const satisfies Record<PaymentStatus, string>;

/** Pays the open invoice of a subscription. */
export function payOpenInvoice(state: AccountState, subscription: Stripe.Subscription, at: number): void {
  const { records } = state;
  const open = getObject(records, 'invoices', getId(subscription.latest_invoice));
  const paid = { ...toPaidInvoice(open, at), attempt_count: open.attempt_count + 1 };
  saveObject(records, 'invoices', paid);
  for (const payment of [...records.objects.invoice_payments.values()]) {
    if (getId(payment.invoice) === open.id) records.objects.invoice_payments.delete(payment.id);
  }
  savePayment(state, paid, { purchaseId: subscription.id, at, status: 'succeeded' });
  emitEvent(state, 'invoice.paid', { purchaseId: subscription.id, at, object: paid });
}

/** Copies an invoice as paid. */
export const toPaidInvoice = (open: Stripe.Invoice, at: number): Stripe.Invoice => ({
  ...open,
  amount_paid: open.amount_due,
  amount_remaining: 0,
  next_payment_attempt: null,
  status: 'paid',
  status_transitions: { ...open.status_transitions, paid_at: toSeconds(at) },
});

/** Records another failed payment of the open invoice. */
export function failOpenInvoice(state: AccountState, subscription: Stripe.Subscription, at: number): void {
  const open = getObject(state.records, 'invoices', getId(subscription.latest_invoice));
  const object = saveObject(state.records, 'invoices', {
    ...open,
    attempt_count: open.attempt_count + 1,
    next_payment_attempt: null,
  });
  emitEvent(state, 'invoice.payment_failed', { purchaseId: subscription.id, at, object });
}

/** Creates the invoice line of a whole period of an item. */
export const buildPeriodLine = (
  { id, price, quantity = 1 }: Stripe.SubscriptionItem,
  { start, end }: { start: number; end: number },
): InvoiceLineInput => ({
  item: id,
  price,
  quantity,
  start,
  end,
  amount: (price.unit_amount ?? 0) * quantity,
  isProration: false,
});

/** Creates the invoice lines of the current periods of items. Stripe sorts them in reverse chronological order. */
export const buildPeriodLines = (items: readonly Stripe.SubscriptionItem[]): InvoiceLineInput[] =>
  items
    .map((item) =>
      buildPeriodLine(item, { start: item.current_period_start * secondMs, end: item.current_period_end * secondMs }),
    )
    .reverse();

/** Starts the next period of a subscription and bills it. */
export function startNextPeriod(
  state: AccountState,
  subscription: Stripe.Subscription,
  { at, isPaid }: { at: number; isPaid: boolean },
): Stripe.Subscription {
  const { renewed, period, lines } = advancePeriod(subscription, at);
  return billSubscription(state, renewed, { at: period.start, reason: 'subscription_cycle', lines, isPaid });
}

/**
 * Starts the next period of a subscription with a void invoice. Stripe does not send events of such an invoice.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause-payment
 */
export function startVoidPeriod(
  state: AccountState,
  subscription: Stripe.Subscription,
  at: number,
): Stripe.Subscription {
  const { renewed, period, lines } = advancePeriod(subscription, at);
  const { id, metadata } = subscription;
  const invoice = buildInvoice(generateId('in'), {
    at: period.start,
    subscription: { id, metadata },
    customer: getId(subscription.customer),
    reason: 'subscription_cycle',
    lines,
    isPaid: false,
    address: null,
    startingBalance: 0,
  });
  const voided = saveObject(state.records, 'invoices', {
    ...invoice,
    status: 'void',
    attempt_count: 0,
    attempted: false,
    next_payment_attempt: null,
    status_transitions: { ...invoice.status_transitions, voided_at: toSeconds(period.start) },
  });
  return { ...renewed, latest_invoice: voided.id };
}

/**
 * Starts the next period of the items whose period ends first. Items whose periods end together share an invoice.
 *
 * @see https://docs.stripe.com/billing/subscriptions/mixed-interval
 */
function advancePeriod(subscription: Stripe.Subscription, at: number) {
  const dueSeconds = getEarliestEnd(subscription);
  const advance = (item: Stripe.SubscriptionItem): Stripe.SubscriptionItem =>
    item.current_period_end === dueSeconds ? withPeriod(item, computeNextPeriod(subscription, item, at)) : item;
  const items = subscription.items.data.map(advance);
  const due = items.filter((item, index) => item !== subscription.items.data[index]);
  const start = Math.max(...due.map(({ current_period_start }) => current_period_start)) * secondMs;
  return { renewed: withItems(subscription, items), period: { start }, lines: buildPeriodLines(due) };
}

/** Computes the next period. Skips periods that ended before `at`. */
function computeNextPeriod(
  { billing_cycle_anchor }: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
  at: number,
): { start: number; end: number } {
  const period = getPeriod(item.price);
  // Counts from the anchor: a short month must not shorten the periods after it.
  const anchor = billing_cycle_anchor * secondMs;
  let start = item.current_period_end * secondMs;
  for (let times = 1; ; times++) {
    const end = addPeriod(anchor, period, times);
    if (end > start && end > at) return { start, end };
    if (end > start) start = end;
  }
}
