import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import { getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent, listInvoices, requirePossible, saveSubscription } from './account-state.ts';
import { paymentEvents, toPaidInvoice } from './billing.ts';
import { toSeconds } from './catalogue.ts';
import { retryDelayMs } from './invoice-objects.ts';
import { capturePayment, findAuthorization, releasePayment } from './manual-capture.ts';
import { payOpenInvoice } from './open-invoices.ts';
import { toChargeStatus, toIntentStatus } from './payment-objects.ts';
import { buildFailureBalance } from './reversal-objects.ts';
import { invoiceSession } from './session-invoice.ts';

interface PurchaseAction {
  readonly purchaseId: string;
  readonly at: number;
  readonly details: ActionBody;
}

/**
 * Completes the pending payment of a purchase, captures an authorized one, or pays the open invoice of a subscription.
 *
 * @see https://docs.stripe.com/payments/checkout/fulfill-orders
 */
export function payPending(state: AccountState, { purchaseId, at, details }: PurchaseAction): string {
  const authorized = findAuthorization(state, purchaseId);
  if (authorized) return capturePayment(state, authorized, { purchaseId, at, details });
  requirePossible(details.amountMicros === undefined, purchaseId, 'does not have an authorized payment');
  const subscription = state.records.objects.subscriptions.get(purchaseId);
  if (subscription && !hasProcessingPayment(state, purchaseId))
    return payOpenInvoice(state, subscription, { at, details });
  const settled = settlePayment(state, { purchaseId, at, status: 'succeeded' });
  if (subscription && settled) {
    const invoice = toPaidInvoice(getObject(state.records, 'invoices', getId(settled.invoice)), at);
    saveObject(state.records, 'invoices', invoice);
    saveObject(state.records, 'invoice_payments', {
      ...settled,
      amount_paid: invoice.amount_due,
      status: 'paid',
      status_transitions: { canceled_at: null, paid_at: toSeconds(at) },
    });
    emitEvent(state, 'invoice.paid', { purchaseId, at, object: invoice });
    if (subscription.status === 'incomplete') saveSubscription(state, { ...subscription, status: 'active' }, at);
  }
  if (!subscription || subscription.status === 'incomplete') completeSession(state, purchaseId, at);
  return purchaseId;
}

function completeSession(state: AccountState, purchaseId: string, at: number): void {
  const open = getSession(state, purchaseId);
  const session = saveObject(state.records, 'checkout/sessions', {
    ...open,
    payment_status: 'paid',
    invoice: open.invoice ?? invoiceSession(state, open, { intent: purchaseId, customer: getId(open.customer), at }),
  });
  emitEvent(state, 'checkout.session.async_payment_succeeded', { purchaseId, at, object: session });
}

/**
 * Fails the pending payment of a purchase for good: a new subscription becomes `incomplete_expired`. A renewal becomes
 * `past_due`, and its payment can be retried.
 */
export function abandonPending(state: AccountState, { purchaseId, at }: PurchaseAction): string {
  const authorized = findAuthorization(state, purchaseId);
  if (authorized) return releasePayment(state, authorized, { purchaseId, at });
  const subscription = state.records.objects.subscriptions.get(purchaseId);
  if (subscription && subscription.status !== 'incomplete') return failProcessingPayment(state, subscription, at);
  settlePayment(state, { purchaseId, at, status: 'failed' });
  if (subscription) expireIncomplete(state, subscription, at);
  const session = getSession(state, purchaseId);
  emitEvent(state, 'checkout.session.async_payment_failed', { purchaseId, at, object: session });
  return purchaseId;
}

function expireIncomplete(state: AccountState, subscription: Stripe.Subscription, at: number): void {
  const { id: purchaseId } = subscription;
  const open = getObject(state.records, 'invoices', getId(subscription.latest_invoice));
  const voided = saveObject(state.records, 'invoices', {
    ...open,
    next_payment_attempt: null,
    status: 'void',
    status_transitions: { ...open.status_transitions, voided_at: toSeconds(at) },
  });
  emitEvent(state, 'invoice.voided', { purchaseId, at, object: voided });
  state.records.autoRenewing.delete(purchaseId);
  saveSubscription(state, { ...subscription, status: 'incomplete_expired', ended_at: toSeconds(at) }, at);
}

/**
 * Fails the debit of an invoice after days: the invoice stays open, and the subscription, which was active until now,
 * becomes `past_due`.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function failProcessingPayment(state: AccountState, subscription: Stripe.Subscription, at: number): string {
  const { id: purchaseId } = subscription;
  const payment = settlePayment(state, { purchaseId, at, status: 'failed' });
  const object = saveObject(state.records, 'invoices', {
    ...getObject(state.records, 'invoices', getId(payment?.invoice)),
    next_payment_attempt: toSeconds(at + retryDelayMs),
  });
  emitEvent(state, 'invoice.payment_failed', { purchaseId, at, object });
  return saveSubscription(state, { ...subscription, status: 'past_due' }, at);
}

/** A bank has not yet confirmed a payment of the subscription. */
export const hasProcessingPayment = (state: AccountState, subscription: string): boolean =>
  findProcessingPayment(state, subscription) !== undefined;

/** Finds the payment of an invoice that a bank has not yet confirmed. */
function findProcessingPayment({ records }: AccountState, subscription: string): Stripe.InvoicePayment | undefined {
  const invoices = listInvoices(records, subscription).map(({ id }) => id);
  return [...records.objects.invoice_payments.values()].find(
    ({ invoice, payment }) =>
      invoices.includes(getId(invoice)) &&
      records.objects.payment_intents.get(getId(payment.payment_intent))?.status === 'processing',
  );
}

/**
 * Saves the result of the pending payment. Returns the payment of its invoice, if it has one. Throws 422 without a
 * pending payment.
 */
function settlePayment(
  state: AccountState,
  { purchaseId, at, status }: { purchaseId: string; at: number; status: 'succeeded' | 'failed' },
): Stripe.InvoicePayment | undefined {
  const { records } = state;
  const payment = findProcessingPayment(state, purchaseId);
  const intent = records.objects.payment_intents.get(payment ? getId(payment.payment.payment_intent) : purchaseId);
  requirePossible(intent?.status === 'processing', purchaseId, 'does not have a pending payment');
  const charge = getObject(records, 'charges', getId(intent.latest_charge));
  const failure =
    status === 'failed' ? saveObject(records, 'balance_transactions', buildFailureBalance(charge, at)) : undefined;
  saveObject(records, 'charges', {
    ...charge,
    ...toChargeStatus(status, charge.amount),
    failure_balance_transaction: failure?.id ?? null,
  });
  if (status === 'succeeded') records.confirmedAt.set(charge.id, at);
  const settled = saveObject(records, 'payment_intents', {
    ...intent,
    ...toIntentStatus(status, intent.amount, charge.id),
  });
  emitEvent(state, paymentEvents[status], { purchaseId, at, object: settled });
  return payment;
}

function getSession({ records }: AccountState, purchaseId: string): Stripe.Checkout.Session {
  const session = [...records.objects['checkout/sessions'].values()].find(
    ({ subscription, payment_intent }) => getId(subscription) === purchaseId || getId(payment_intent) === purchaseId,
  );
  if (!session) throw new Error(`The checkout session of ${purchaseId} is missing`);
  return session;
}
