import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { refusal } from '../refusal.ts';
import { bill, wholePeriod } from './billing.ts';
import { enter, idOf, newId, type Wish } from './books.ts';
import { periodOf } from './catalogue.ts';
import { newCharge, newPaymentIntent } from './payment-objects.ts';
import { newCustomer } from './session-objects.ts';
import { type Shop, tellOf } from './shop.ts';
import { newSubscription } from './subscription-objects.ts';

interface Paying {
  readonly session: Stripe.Checkout.Session;
  readonly line: Stripe.LineItem;
  readonly price: Stripe.Price;
  readonly wish: Wish;
  readonly customer: string | null;
  readonly at: number;
}

/** The customer pays for what is in the session; gives the id of the purchase. */
export function payCheckout(shop: Shop, sessionId: string): string {
  const { books } = shop;
  const session = books.objects['checkout/sessions'].get(sessionId);
  if (session === undefined) throw refusal(404, `There is no checkout session ${sessionId}.`);
  if (session.status !== 'open') throw refusal(422, `The session is ${session.status}.`);
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
  enter(books, 'checkout/sessions', complete);
  const purchaseId = idOf(bought.subscription ?? bought.payment_intent) || sessionId;
  tellOf(shop, 'checkout.session.completed', { purchaseId, at, object: complete });
  return purchaseId;
}

function customerFor({ books }: Shop, session: Stripe.Checkout.Session, at: number): string | null {
  if (session.customer !== null) return idOf(session.customer);
  if (session.mode === 'payment' && session.customer_creation !== 'always') return null;
  return enter(books, 'customers', newCustomer(at, { livemode: session.livemode, email: 'buyer@example.com' })).id;
}

function subscribe(shop: Shop, { price, line, wish, customer, at }: Paying) {
  const id = newId('sub');
  const quantity = line.quantity ?? 1;
  const isTrial = wish.trialDays > 0;
  const end = isTrial ? at + wish.trialDays * 86_400_000 : addPeriod(at, periodOf(price));
  const { metadata } = wish;
  const begun = newSubscription(id, {
    at,
    customer: customer ?? '',
    price,
    quantity,
    metadata,
    end,
    isTrial,
    latestInvoice: '',
  });
  const period = wholePeriod(price, quantity, { start: at, end });
  const lines = [isTrial ? { ...period, amount: 0 } : period];
  const subscription = bill(shop, begun, { at, reason: 'subscription_create', lines, paid: true });
  enter(shop.books, 'subscriptions', subscription);
  if (wish.autoRenew) shop.books.renewing.add(id);
  if (isTrial) shop.books.toRemind.add(id);
  tellOf(shop, 'customer.subscription.created', { purchaseId: id, at, object: subscription });
  return { subscription: id, invoice: idOf(subscription.latest_invoice), payment_intent: null };
}

function payOnce(shop: Shop, { session, wish, customer, at }: Paying) {
  const amount = session.amount_total ?? 0;
  if (amount === 0) return { subscription: null, payment_intent: null };
  const [intent, charge] = [newId('pi'), newId('ch')];
  const { livemode, currency } = session;
  const asked = { at, livemode, amount, currency: currency ?? 'usd', customer, metadata: wish.metadata };
  const payment = enter(shop.books, 'payment_intents', newPaymentIntent(asked, intent, charge, true));
  enter(shop.books, 'charges', newCharge(asked, charge, intent, true));
  tellOf(shop, 'payment_intent.succeeded', { purchaseId: intent, at, object: payment });
  return { subscription: null, payment_intent: intent };
}

/** The customer goes away without paying: the session ends. */
export function abandonCheckout(shop: Shop, session: Stripe.Checkout.Session, at: number): Stripe.Checkout.Session {
  const expired = enter(shop.books, 'checkout/sessions', { ...session, status: 'expired', url: null });
  tellOf(shop, 'checkout.session.expired', { purchaseId: session.id, at, object: expired });
  return expired;
}
