import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { generateId, getId, type SessionOptions, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { billSubscription, buildPeriodLine } from './billing.ts';
import { getPeriod } from './catalogue.ts';
import { buildCharge, buildPaymentIntent } from './payment-objects.ts';
import { buildCustomer } from './session-objects.ts';
import { buildSubscription } from './subscription-objects.ts';

interface CheckoutPayment {
  readonly session: Stripe.Checkout.Session;
  readonly line: Stripe.LineItem;
  readonly price: Stripe.Price;
  readonly wish: SessionOptions;
  readonly customer: string | null;
  readonly at: number;
}

/** The customer pays for what is in the session; gives the id of the purchase. */
export function payCheckout(shop: AccountState, sessionId: string): string {
  const { books } = shop;
  const session = books.objects['checkout/sessions'].get(sessionId);
  if (session === undefined) throw controlError(404, `There is no checkout session ${sessionId}.`);
  if (session.status !== 'open') throw controlError(422, `The session is ${session.status}.`);
  const [line] = books.lineItems.get(sessionId) ?? [];
  const wish = books.wishes.get(sessionId);
  if (!line?.price || !wish) throw new Error(`${sessionId} sells nothing`);
  const at = shop.now();
  const paying = { session, line, price: line.price, wish, customer: customerFor(shop, session, at), at };
  const bought = session.mode === 'subscription' ? subscribe(shop, paying) : payOnce(shop, paying);
  const complete: Stripe.Checkout.Session = {
    ...session,
    ...bought,
    customer: paying.customer,
    status: 'complete',
    payment_status: session.amount_total === 0 || wish.trialDays > 0 ? 'no_payment_required' : 'paid',
    url: null,
  };
  saveObject(books, 'checkout/sessions', complete);
  const purchaseId = getId(bought.subscription ?? bought.payment_intent) || sessionId;
  emitEvent(shop, 'checkout.session.completed', { purchaseId, at, object: complete });
  return purchaseId;
}

function customerFor({ books }: AccountState, session: Stripe.Checkout.Session, at: number): string | null {
  if (session.customer !== null) return getId(session.customer);
  if (session.mode === 'payment' && session.customer_creation !== 'always') return null;
  return saveObject(books, 'customers', buildCustomer(at, { livemode: session.livemode, email: 'buyer@example.com' }))
    .id;
}

function subscribe(shop: AccountState, { price, line, wish, customer, at }: CheckoutPayment) {
  const id = generateId('sub');
  const quantity = line.quantity ?? 1;
  const isTrial = wish.trialDays > 0;
  const end = isTrial ? at + wish.trialDays * 86_400_000 : addPeriod(at, getPeriod(price));
  const { metadata } = wish;
  const begun = buildSubscription(id, {
    at,
    customer: customer ?? '',
    price,
    quantity,
    metadata,
    end,
    isTrial,
    latestInvoice: '',
  });
  const period = buildPeriodLine(price, quantity, { start: at, end });
  const lines = [isTrial ? { ...period, amount: 0 } : period];
  const subscription = billSubscription(shop, begun, { at, reason: 'subscription_create', lines, paid: true });
  saveObject(shop.books, 'subscriptions', subscription);
  if (wish.autoRenew) shop.books.renewing.add(id);
  if (isTrial) shop.books.pendingTrialReminders.add(id);
  emitEvent(shop, 'customer.subscription.created', { purchaseId: id, at, object: subscription });
  return { subscription: id, invoice: getId(subscription.latest_invoice), payment_intent: null };
}

function payOnce(shop: AccountState, { session, wish, customer, at }: CheckoutPayment) {
  const amount = session.amount_total ?? 0;
  if (amount === 0) return { subscription: null, payment_intent: null };
  const [intent, charge] = [generateId('pi'), generateId('ch')];
  const { livemode, currency } = session;
  const asked = { at, livemode, amount, currency: currency ?? 'usd', customer, metadata: wish.metadata };
  const payment = saveObject(shop.books, 'payment_intents', buildPaymentIntent(asked, intent, charge, true));
  saveObject(shop.books, 'charges', buildCharge(asked, charge, intent, true));
  emitEvent(shop, 'payment_intent.succeeded', { purchaseId: intent, at, object: payment });
  return { subscription: null, payment_intent: intent };
}

/** The customer goes away without paying: the session ends. */
export function expireCheckout(
  shop: AccountState,
  session: Stripe.Checkout.Session,
  at: number,
): Stripe.Checkout.Session {
  const expired = saveObject(shop.books, 'checkout/sessions', { ...session, status: 'expired', url: null });
  emitEvent(shop, 'checkout.session.expired', { purchaseId: session.id, at, object: expired });
  return expired;
}
