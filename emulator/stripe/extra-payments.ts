import type Stripe from 'stripe';
import { controlError } from '../control-error.ts';
import { type AccountObjects, generateId, getId, getObject, saveObject } from './account-objects.ts';
import { emitEvent, requirePossible, saveSubscription } from './account-state.ts';
import { billSubscription, paymentEvents } from './billing.ts';
import { getOrCreatePrice } from './get-or-create-price.ts';
import { buildInvoiceItemLine } from './invoice-lines.ts';
import { listPaidCharges } from './payment-reversals.ts';
import { isRunning, type SubscriptionTransition } from './subscription-status.ts';

/**
 * Bills an invoice item outside of the billing cycle, for example a fee. It is paid, or its payment fails (`unpaid`)
 * and the subscription becomes `past_due`.
 *
 * @see https://docs.stripe.com/invoicing/integration
 */
export const billExtraInvoice: SubscriptionTransition = (state, subscription, at, details) => {
  const { id, status, currency, livemode } = subscription;
  const { priceMicros, productId = 'extra', unpaid = false } = details;
  if (priceMicros === undefined) throw controlError(400, 'priceMicros is missing.');
  requirePossible(isRunning(subscription) || status === 'past_due', id, `is ${status}`);
  const request = { productId, type: 'consumable' as const, priceMicros, currency: currency.toUpperCase() };
  const price = getOrCreatePrice(state, request, { at, livemode });
  const line = buildInvoiceItemLine(price, { quantity: 1, at });
  const outcome = unpaid ? 'failed' : 'paid';
  const billed = billSubscription(state, subscription, { at, reason: 'manual', lines: [line], outcome });
  const isOverdue = unpaid && billed.collection_method === 'charge_automatically';
  return saveSubscription(state, isOverdue ? { ...billed, status: 'past_due' } : billed, at);
};

/**
 * Splits the latest payment of an invoice in two equal payments of the same time.
 *
 * @see https://docs.stripe.com/invoicing/partial-payments
 */
export const splitPayment: SubscriptionTransition = (state, { id: purchaseId }, at) => {
  const { records } = state;
  const charge = listPaidCharges(records, purchaseId).at(-1);
  requirePossible(charge !== undefined, purchaseId, 'does not have a paid charge');
  requirePossible(charge.amount_refunded === 0 && !charge.disputed, purchaseId, `has a reversed charge ${charge.id}`);
  requirePossible(charge.amount > 1, purchaseId, 'has a payment that cannot be split');
  const intent = getObject(records, 'payment_intents', getId(charge.payment_intent));
  const payment = [...records.objects.invoice_payments.values()].find(
    (object) => getId(object.payment.payment_intent) === intent.id,
  );
  requirePossible(payment !== undefined, purchaseId, 'is not paid by invoices');
  const second = Math.floor(charge.amount / 2);
  savePart(records, { charge, intent, payment }, charge.amount - second);
  const ids = { charge: generateId('ch'), intent: generateId('pi'), payment: generateId('inpay') };
  const copy = {
    charge: { ...charge, id: ids.charge, payment_intent: ids.intent, balance_transaction: generateId('txn') },
    intent: { ...intent, id: ids.intent, latest_charge: ids.charge, client_secret: `${ids.intent}_secret` },
    payment: {
      ...payment,
      id: ids.payment,
      is_default: false,
      payment: { type: 'payment_intent', payment_intent: ids.intent },
    },
  };
  savePart(records, copy, second);
  const { objects } = records;
  for (const [type, object] of [
    [paymentEvents.succeeded, objects.payment_intents.get(ids.intent)],
    ['invoice_payment.paid', objects.invoice_payments.get(ids.payment)],
  ] as const)
    if (object !== undefined) emitEvent(state, type, { purchaseId, at, object });
  return purchaseId;
};

interface PaymentObjects {
  readonly charge: Stripe.Charge;
  readonly intent: Stripe.PaymentIntent;
  readonly payment: Stripe.InvoicePayment;
}

function savePart(records: AccountObjects, { charge, intent, payment }: PaymentObjects, amount: number): void {
  saveObject(records, 'charges', { ...charge, amount, amount_captured: amount });
  saveObject(records, 'payment_intents', { ...intent, amount, amount_received: amount });
  saveObject(records, 'invoice_payments', { ...payment, amount_paid: amount, amount_requested: amount });
}
