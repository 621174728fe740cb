import type Stripe from 'stripe';
import { controlError } from '../control-error.ts';
import { getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent, requirePossible, saveSubscription } from './account-state.ts';
import { paymentEvents, toPaidInvoice } from './billing.ts';
import { toSeconds } from './catalogue.ts';
import { toChargeStatus, toIntentStatus } from './payment-objects.ts';

/**
 * Completes the pending payment of a purchase: a subscription becomes active.
 *
 * @see https://docs.stripe.com/payments/checkout/fulfill-orders
 */
export function payPending(state: AccountState, purchaseId: string, at: number): string {
  settlePayment(state, { purchaseId, at, status: 'succeeded' });
  const subscription = state.records.objects.subscriptions.get(purchaseId);
  if (subscription) {
    const invoice = toPaidInvoice(getLatestInvoice(state, subscription), at);
    saveObject(state.records, 'invoices', invoice);
    const payment = getInvoicePayment(state, invoice.id);
    saveObject(state.records, 'invoice_payments', {
      ...payment,
      amount_paid: invoice.amount_due,
      status: 'paid',
      status_transitions: { canceled_at: null, paid_at: toSeconds(at) },
    });
    emitEvent(state, 'invoice.paid', { purchaseId, at, object: invoice });
    saveSubscription(state, { ...subscription, status: 'active' }, at);
  }
  const session = saveObject(state.records, 'checkout/sessions', {
    ...getSession(state, purchaseId),
    payment_status: 'paid',
  });
  emitEvent(state, 'checkout.session.async_payment_succeeded', { purchaseId, at, object: session });
  return purchaseId;
}

/** Fails the pending payment of a purchase for good: a subscription becomes `incomplete_expired`. */
export function abandonPending(state: AccountState, purchaseId: string, at: number): string {
  settlePayment(state, { purchaseId, at, status: 'failed' });
  const subscription = state.records.objects.subscriptions.get(purchaseId);
  if (subscription) {
    const open = getLatestInvoice(state, subscription);
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
  const session = getSession(state, purchaseId);
  emitEvent(state, 'checkout.session.async_payment_failed', { purchaseId, at, object: session });
  return purchaseId;
}

/** Saves the result of the pending payment. Throws 422 without a pending payment. */
function settlePayment(
  state: AccountState,
  { purchaseId, at, status }: { purchaseId: string; at: number; status: 'succeeded' | 'failed' },
): void {
  const { records } = state;
  const subscription = records.objects.subscriptions.get(purchaseId);
  const intentId = subscription
    ? getId(getInvoicePayment(state, getId(subscription.latest_invoice)).payment.payment_intent)
    : purchaseId;
  const intent = records.objects.payment_intents.get(intentId);
  const isPending = intent?.status === 'processing' && (!subscription || subscription.status === 'incomplete');
  requirePossible(isPending, purchaseId, 'does not have a pending payment');
  const charge = getObject(records, 'charges', getId(intent.latest_charge));
  saveObject(records, 'charges', { ...charge, ...toChargeStatus(status, charge.amount) });
  const settled = saveObject(records, 'payment_intents', {
    ...intent,
    ...toIntentStatus(status, intent.amount, charge.id),
  });
  emitEvent(state, paymentEvents[status], { purchaseId, at, object: settled });
}

const getLatestInvoice = ({ records }: AccountState, { latest_invoice }: Stripe.Subscription): Stripe.Invoice =>
  getObject(records, 'invoices', getId(latest_invoice));

function getInvoicePayment({ records }: AccountState, invoiceId: string): Stripe.InvoicePayment {
  const payment = [...records.objects.invoice_payments.values()].find(({ invoice }) => getId(invoice) === invoiceId);
  if (!payment) throw controlError(422, `${invoiceId} does not have a payment.`);
  return payment;
}

function getSession({ records }: AccountState, purchaseId: string): Stripe.Checkout.Session {
  const session = [...records.objects['checkout/sessions'].values()].find(
    ({ subscription, payment_intent }) => getId(subscription) === purchaseId || getId(payment_intent) === purchaseId,
  );
  if (!session) throw new Error(`The checkout session of ${purchaseId} is missing`);
  return session;
}
