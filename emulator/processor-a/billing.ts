import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { enter, idOf, newId, objectNamed } from './books.ts';
import { periodOf, seconds } from './catalogue.ts';
import { type BillingReason, type Charged, newInvoice, newInvoicePayment } from './invoice-objects.ts';
import { newCharge, newPaymentIntent } from './payment-objects.ts';
import { type Shop, tellOf } from './shop.ts';
import { itemOf, withItem } from './subscription-objects.ts';

interface Billing {
  readonly at: number;
  readonly reason: BillingReason;
  readonly lines: readonly Charged[];
  readonly paid: boolean;
}

/** Bills a subscription and collects the money, or fails to; gives the subscription with its new latest invoice. */
export function bill(
  shop: Shop,
  subscription: Stripe.Subscription,
  { at, reason, lines, paid }: Billing,
): Stripe.Subscription {
  const customer = idOf(subscription.customer);
  const { id: itemId } = itemOf(subscription);
  const { id, metadata } = subscription;
  const invoice = newInvoice(newId('in'), {
    at,
    subscription: { id, itemId, metadata },
    customer,
    reason,
    lines,
    paid,
  });
  enter(shop.books, 'invoices', invoice);
  if (invoice.amount_due > 0) collect(shop, invoice, { purchaseId: id, at });
  tellOf(shop, paid ? 'invoice.paid' : 'invoice.payment_failed', { purchaseId: id, at, object: invoice });
  return { ...subscription, latest_invoice: invoice.id };
}

function collect(shop: Shop, invoice: Stripe.Invoice, { purchaseId, at }: { purchaseId: string; at: number }): void {
  const { books } = shop;
  const [intent, charge] = [newId('pi'), newId('ch')];
  const { livemode, currency, amount_due: amount } = invoice;
  const asked = { at, livemode, amount, currency, customer: idOf(invoice.customer), metadata: {} };
  const paid = invoice.status === 'paid';
  const payment = enter(books, 'payment_intents', newPaymentIntent(asked, intent, charge, paid));
  enter(books, 'charges', newCharge(asked, charge, intent, paid));
  enter(books, 'invoice_payments', newInvoicePayment(invoice, intent, at));
  tellOf(shop, `payment_intent.${paid ? 'succeeded' : 'payment_failed'}`, { purchaseId, at, object: payment });
}

/** Pays the open invoice of a subscription. */
export function payOpen(shop: Shop, subscription: Stripe.Subscription, at: number): void {
  const { books } = shop;
  const open = objectNamed(books, 'invoices', idOf(subscription.latest_invoice));
  const paid: Stripe.Invoice = {
    ...open,
    amount_paid: open.amount_due,
    amount_remaining: 0,
    attempt_count: open.attempt_count + 1,
    next_payment_attempt: null,
    status: 'paid',
    status_transitions: { ...open.status_transitions, paid_at: seconds(at) },
  };
  enter(books, 'invoices', paid);
  for (const payment of [...books.objects.invoice_payments.values()]) {
    if (idOf(payment.invoice) === open.id) books.objects.invoice_payments.delete(payment.id);
  }
  collect(shop, paid, { purchaseId: subscription.id, at });
  tellOf(shop, 'invoice.paid', { purchaseId: subscription.id, at, object: paid });
}

/** The open invoice of a subscription cannot be paid once more. */
export function failAgain(shop: Shop, subscription: Stripe.Subscription, at: number): void {
  const open = objectNamed(shop.books, 'invoices', idOf(subscription.latest_invoice));
  const object = enter(shop.books, 'invoices', {
    ...open,
    attempt_count: open.attempt_count + 1,
    next_payment_attempt: null,
  });
  tellOf(shop, 'invoice.payment_failed', { purchaseId: subscription.id, at, object });
}

/** A line for a whole period of a price. */
export const wholePeriod = (
  price: Stripe.Price,
  quantity: number,
  { start, end }: { start: number; end: number },
): Charged => ({
  price,
  quantity,
  start,
  end,
  amount: (price.unit_amount ?? 0) * quantity,
  isProration: false,
});

/** Moves a subscription on to its next period, and bills it. */
export function nextPeriod(
  shop: Shop,
  subscription: Stripe.Subscription,
  { at, paid }: { at: number; paid: boolean },
): Stripe.Subscription {
  const item = itemOf(subscription);
  const { start, end } = periodAfter(subscription, item, at);
  const moved = withItem(subscription, { current_period_start: seconds(start), current_period_end: seconds(end) });
  const lines = [wholePeriod(item.price, item.quantity ?? 1, { start, end })];
  return bill(shop, moved, { at: start, reason: 'subscription_cycle', lines, paid });
}

/** The period that follows; periods that nobody lived through are left out. */
function periodAfter(
  { billing_cycle_anchor }: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
  at: number,
): { start: number; end: number } {
  const period = periodOf(item.price);
  // All periods are counted from one day, so that a short month does not shorten those after it.
  const anchor = billing_cycle_anchor * 1000;
  let start = item.current_period_end * 1000;
  for (let times = 1; ; times++) {
    const end = addPeriod(anchor, period, times);
    if (end > start && end > at) return { start, end };
    if (end > start) start = end;
  }
}
