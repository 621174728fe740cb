import type Stripe from 'stripe';
import { hourMs, secondMs } from '../calendar.ts';
import { type AccountObjects, generateId, getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { toSeconds } from './catalogue.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';
import { toInvoiceSubscription } from './invoice-lines.ts';
import { type BillingReason, buildInvoice, buildInvoicePayment, type InvoiceOutcome } from './invoice-objects.ts';
import { buildCharge, buildPaymentIntent, type PaymentStatus, toIntentStatus } from './payment-objects.ts';
import { buildPaymentRecord } from './payment-records.ts';
import { withoutDebt } from './subscription-status.ts';

interface BillingInput {
  readonly at: number;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineInput[];
  /** Collection of the invoice if the subscription charges automatically. */
  readonly outcome: InvoiceOutcome;
}

/**
 * Creates an invoice with its payment. Returns the subscription with its new latest invoice, which decides whether it
 * is overdue: a paid one makes it active.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function billSubscription(
  state: AccountState,
  subscription: Stripe.Subscription,
  { at, reason, lines, outcome: requested }: BillingInput,
): Stripe.Subscription {
  const customer = getId(subscription.customer);
  const payer = getObject(state.records, 'customers', customer);
  const input = {
    at,
    subscription: toInvoiceSubscription(subscription),
    customer,
    reason,
    lines,
    address: payer.address ?? null,
    startingBalance: payer.balance,
  };
  const isEmailed = subscription.collection_method === 'send_invoice' && requested !== 'draft';
  const collected = buildInvoice(generateId('in'), { ...input, outcome: isEmailed ? 'emailed' : requested });
  // An invoice without an amount due is paid automatically.
  const isFree = collected.amount_due === 0 && requested !== 'draft';
  const outcome = isFree ? 'paid' : isEmailed ? 'emailed' : requested;
  const invoice = isFree ? buildInvoice(collected.id, { ...input, outcome }) : collected;
  saveObject(state.records, 'invoices', invoice);
  if (outcome !== 'draft') saveObject(state.records, 'customers', { ...payer, balance: invoice.ending_balance ?? 0 });
  const purchaseId = subscription.id;
  const status = paymentStatuses[outcome];
  if (invoice.amount_due > 0 && status !== undefined) savePayment(state, invoice, { purchaseId, at, status });
  const event = invoiceEvents[outcome];
  if (outcome === 'emailed') state.records.pendingDueDates.add(invoice.id);
  if (event !== undefined) emitEvent(state, event, { purchaseId, at, object: invoice });
  const isReactivated = outcome === 'paid' && ['past_due', 'unpaid'].includes(subscription.status);
  return { ...(isReactivated ? withoutDebt(subscription, at) : subscription), latest_invoice: invoice.id };
}

/** Status of the payment that Stripe creates with an invoice. A draft does not have a payment. */
const paymentStatuses: Readonly<Partial<Record<InvoiceOutcome, PaymentStatus>>> = {
  paid: 'succeeded',
  failed: 'failed',
  processing: 'pending',
  emailed: 'unattempted',
};

const invoiceEvents: Readonly<Partial<Record<InvoiceOutcome, string>>> = {
  paid: 'invoice.paid',
  failed: 'invoice.payment_failed',
  emailed: 'invoice.sent',
  draft: 'invoice.created',
};

/** Creates the payment of an invoice and its charge. */
function savePayment(
  state: AccountState,
  invoice: Stripe.Invoice,
  { purchaseId, at, status }: { purchaseId: string; at: number; status: PaymentStatus },
): void {
  const { records } = state;
  const intent = generateId('pi');
  const charge = status === 'unattempted' ? null : generateId('ch');
  const { livemode, currency, amount_due: amount } = invoice;
  const country = invoice.customer_address?.country ?? null;
  const input = { at, livemode, amount, currency, customer: getId(invoice.customer), metadata: {}, country };
  const payment = saveObject(records, 'payment_intents', buildPaymentIntent(input, intent, charge, status));
  if (charge !== null && status !== 'unattempted')
    saveObject(records, 'charges', buildCharge(input, charge, intent, status));
  saveObject(records, 'invoice_payments', buildInvoicePayment(invoice, intent, at));
  emitEvent(state, paymentEvents[status], { purchaseId, at, object: payment });
}

/** Event of a payment intent by the status of its payment. */
export const paymentEvents = {
  succeeded: 'payment_intent.succeeded',
  pending: 'payment_intent.processing',
  authorized: 'payment_intent.amount_capturable_updated',
  failed: 'payment_intent.payment_failed',
  unattempted: 'payment_intent.created',
} as const satisfies Record<PaymentStatus, string>;

/** Pays the latest invoice of a subscription. */
export const payLatestInvoice = (state: AccountState, subscription: Stripe.Subscription, at: number): void =>
  payInvoice(state, getObject(state.records, 'invoices', getId(subscription.latest_invoice)), {
    purchaseId: subscription.id,
    at,
  });

/** Pays an open invoice. A draft is finalized first. A payment outside of Stripe has a payment record. */
export function payInvoice(
  state: AccountState,
  invoice: Stripe.Invoice,
  { purchaseId, at, isOutside = false }: { purchaseId: string; at: number; isOutside?: boolean },
): void {
  const { records } = state;
  const finalized = invoice.status_transitions.finalized_at ?? toSeconds(at);
  const open = {
    ...invoice,
    effective_at: invoice.effective_at ?? finalized,
    number: invoice.number ?? `${invoice.id.slice(-8).toUpperCase()}-0001`,
    status_transitions: { ...invoice.status_transitions, finalized_at: finalized },
  };
  const paid = { ...toPaidInvoice(open, at), attempted: true, attempt_count: open.attempt_count + 1 };
  saveObject(records, 'invoices', paid);
  for (const payment of [...records.objects.invoice_payments.values()]) {
    if (getId(payment.invoice) === open.id) records.objects.invoice_payments.delete(payment.id);
  }
  if (isOutside) saveOutsidePayment(records, paid, at);
  else savePayment(state, paid, { purchaseId, at, status: 'succeeded' });
  emitEvent(state, 'invoice.paid', { purchaseId, at, object: paid });
}

function saveOutsidePayment(records: AccountObjects, paid: Stripe.Invoice, at: number): void {
  const { id: payment_record } = saveObject(records, 'payment_records', buildPaymentRecord(paid, at));
  saveObject(records, 'invoice_payments', {
    ...buildInvoicePayment(paid, '', at),
    payment: { payment_record, type: 'payment_record' },
  });
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
  saveFailedAttempt(state.records, open, at);
  emitEvent(state, 'invoice.payment_failed', { purchaseId: subscription.id, at, object });
}

/**
 * Adds a charge to the payment of an invoice: each attempt has its own. An invoice whose period has not started yet is
 * attempted again after its start.
 *
 * @see https://docs.stripe.com/api/charges/object
 */
function saveFailedAttempt(records: AccountObjects, { id: invoiceId, created }: Stripe.Invoice, at: number): void {
  const { objects } = records;
  const invoicePayment = [...objects.invoice_payments.values()].find(({ invoice }) => getId(invoice) === invoiceId);
  const intent = invoicePayment && objects.payment_intents.get(getId(invoicePayment.payment.payment_intent));
  const attempt = intent && objects.charges.get(getId(intent.latest_charge));
  if (!attempt) return;
  const attemptedAt = Math.max(toSeconds(at), created + hourMs / secondMs);
  const retry = saveObject(records, 'charges', {
    ...attempt,
    id: generateId('ch'),
    created: attemptedAt,
    failure_balance_transaction: null,
  });
  const failed = toIntentStatus('failed', intent.amount, retry.id);
  saveObject(records, 'payment_intents', { ...intent, latest_charge: retry.id, ...failed });
}
