import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { generateId, getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { type BillingReason, buildInvoice, buildInvoicePayment, type InvoiceLineInput } from './invoice-objects.ts';
import { buildCharge, buildPaymentIntent } from './payment-objects.ts';
import { getItem, withItem } from './subscription-objects.ts';

interface BillingInput {
  readonly at: number;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineInput[];
  readonly paid: boolean;
}

/** Bills a subscription and collects the money, or fails to; gives the subscription with its new latest invoice. */
export function billSubscription(
  shop: AccountState,
  subscription: Stripe.Subscription,
  { at, reason, lines, paid }: BillingInput,
): Stripe.Subscription {
  const customer = getId(subscription.customer);
  const { id: itemId } = getItem(subscription);
  const { id, metadata } = subscription;
  const invoice = buildInvoice(generateId('in'), {
    at,
    subscription: { id, itemId, metadata },
    customer,
    reason,
    lines,
    paid,
  });
  saveObject(shop.books, 'invoices', invoice);
  if (invoice.amount_due > 0) collect(shop, invoice, { purchaseId: id, at });
  emitEvent(shop, paid ? 'invoice.paid' : 'invoice.payment_failed', { purchaseId: id, at, object: invoice });
  return { ...subscription, latest_invoice: invoice.id };
}

function collect(
  shop: AccountState,
  invoice: Stripe.Invoice,
  { purchaseId, at }: { purchaseId: string; at: number },
): void {
  const { books } = shop;
  const [intent, charge] = [generateId('pi'), generateId('ch')];
  const { livemode, currency, amount_due: amount } = invoice;
  const asked = { at, livemode, amount, currency, customer: getId(invoice.customer), metadata: {} };
  const paid = invoice.status === 'paid';
  const payment = saveObject(books, 'payment_intents', buildPaymentIntent(asked, intent, charge, paid));
  saveObject(books, 'charges', buildCharge(asked, charge, intent, paid));
  saveObject(books, 'invoice_payments', buildInvoicePayment(invoice, intent, at));
  emitEvent(shop, `payment_intent.${paid ? 'succeeded' : 'payment_failed'}`, { purchaseId, at, object: payment });
}

/** Pays the open invoice of a subscription. */
export function payOpenInvoice(shop: AccountState, subscription: Stripe.Subscription, at: number): void {
  const { books } = shop;
  const open = getObject(books, 'invoices', getId(subscription.latest_invoice));
  const paid: Stripe.Invoice = {
    ...open,
    amount_paid: open.amount_due,
    amount_remaining: 0,
    attempt_count: open.attempt_count + 1,
    next_payment_attempt: null,
    status: 'paid',
    status_transitions: { ...open.status_transitions, paid_at: toSeconds(at) },
  };
  saveObject(books, 'invoices', paid);
  for (const payment of [...books.objects.invoice_payments.values()]) {
    if (getId(payment.invoice) === open.id) books.objects.invoice_payments.delete(payment.id);
  }
  collect(shop, paid, { purchaseId: subscription.id, at });
  emitEvent(shop, 'invoice.paid', { purchaseId: subscription.id, at, object: paid });
}

/** The open invoice of a subscription cannot be paid once more. */
export function failOpenInvoice(shop: AccountState, subscription: Stripe.Subscription, at: number): void {
  const open = getObject(shop.books, 'invoices', getId(subscription.latest_invoice));
  const object = saveObject(shop.books, 'invoices', {
    ...open,
    attempt_count: open.attempt_count + 1,
    next_payment_attempt: null,
  });
  emitEvent(shop, 'invoice.payment_failed', { purchaseId: subscription.id, at, object });
}

/** A line for a whole period of a price. */
export const buildPeriodLine = (
  price: Stripe.Price,
  quantity: number,
  { start, end }: { start: number; end: number },
): InvoiceLineInput => ({
  price,
  quantity,
  start,
  end,
  amount: (price.unit_amount ?? 0) * quantity,
  isProration: false,
});

/** Moves a subscription on to its next period, and bills it. */
export function startNextPeriod(
  shop: AccountState,
  subscription: Stripe.Subscription,
  { at, paid }: { at: number; paid: boolean },
): Stripe.Subscription {
  const item = getItem(subscription);
  const { start, end } = periodAfter(subscription, item, at);
  const moved = withItem(subscription, { current_period_start: toSeconds(start), current_period_end: toSeconds(end) });
  const lines = [buildPeriodLine(item.price, item.quantity ?? 1, { start, end })];
  return billSubscription(shop, moved, { at: start, reason: 'subscription_cycle', lines, paid });
}

/** The period that follows; periods that nobody lived through are left out. */
function periodAfter(
  { billing_cycle_anchor }: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
  at: number,
): { start: number; end: number } {
  const period = getPeriod(item.price);
  // All periods are counted from one day, so that a short month does not shorten those after it.
  const anchor = billing_cycle_anchor * 1000;
  let start = item.current_period_end * 1000;
  for (let times = 1; ; times++) {
    const end = addPeriod(anchor, period, times);
    if (end > start && end > at) return { start, end };
    if (end > start) start = end;
  }
}
