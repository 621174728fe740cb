import type Stripe from 'stripe';
import type { StoreMessage } from '../emulated-store.ts';
import { refusal } from '../refusal.ts';
import { apiVersion } from './api-error.ts';
import { type Books, enter, idOf, newId, objectNamed } from './books.ts';
import { seconds } from './catalogue.ts';
import { previousAttributes } from './previous-attributes.ts';

/** Where things happen: the books, the clock and the events that are told of it. */
export interface Shop {
  readonly books: Books;
  readonly now: () => number;
  readonly tell: (message: StoreMessage) => void;
  /** The call of the API that makes things happen; absent when nobody called. */
  readonly request?: Stripe.Event.Request;
}

interface Told {
  readonly purchaseId: string;
  readonly at: number;
  readonly object: { readonly object: string; readonly livemode?: boolean };
  /** The object before it changed, where the event shows what changed. */
  readonly before?: object;
}

/** Sends an event of the account: its type and the object as it is now. */
export function tellOf(
  { now, tell, request }: Shop,
  type: string,
  { purchaseId, object, before, ...told }: Told,
): void {
  // A renewal that is asked for early bills the coming period, but is told of now.
  const at = Math.min(told.at, now());
  const event = {
    id: newId('evt'),
    object: 'event',
    api_version: apiVersion,
    created: seconds(at),
    data: { object, ...(before && { previous_attributes: previousAttributes(before, object) }) },
    livemode: object.livemode ?? true,
    pending_webhooks: 1,
    request: request ?? { id: null, idempotency_key: null },
    type,
  };
  tell({ purchaseId, at, native: event });
}

/** The subscription of a purchase; refuses a purchase that is none. */
export function subscriptionNamed({ books }: Shop, id: string): Stripe.Subscription {
  const subscription = books.objects.subscriptions.get(id);
  if (subscription === undefined) throw refusal(422, `${id} is not a subscription.`);
  return subscription;
}

/** Refuses what the processor does not do in this state. */
export function demand(isPossible: boolean, id: string, problem: string): asserts isPossible {
  if (!isPossible) throw refusal(422, `${id} ${problem}.`);
}

/** Writes the changed subscription down and tells of it. */
export function settle(shop: Shop, subscription: Stripe.Subscription, at: number): string {
  const { id: purchaseId } = subscription;
  const before = objectNamed(shop.books, 'subscriptions', purchaseId);
  enter(shop.books, 'subscriptions', subscription);
  tellOf(shop, 'customer.subscription.updated', { purchaseId, at, object: subscription, before });
  return purchaseId;
}

/** Writes the subscription down as it is now, and tells that it ended, was paused or goes on. */
export function settleAs(
  shop: Shop,
  turn: 'deleted' | 'paused' | 'resumed',
  { subscription, at }: { readonly subscription: Stripe.Subscription; readonly at: number },
): string {
  enter(shop.books, 'subscriptions', subscription);
  tellOf(shop, `customer.subscription.${turn}`, { purchaseId: subscription.id, at, object: subscription });
  return subscription.id;
}

/** The invoices of a subscription, oldest first. */
export const invoicesOf = ({ objects }: Books, subscription: string): Stripe.Invoice[] =>
  [...objects.invoices.values()].filter(
    ({ parent }) => idOf(parent?.subscription_details?.subscription) === subscription,
  );

/** The charges that paid, or tried to pay, an invoice. */
export function chargesOfInvoice({ objects }: Books, invoice: string): Stripe.Charge[] {
  const intents = [...objects.invoice_payments.values()]
    .filter((payment) => idOf(payment.invoice) === invoice)
    .map(({ payment }) => idOf(payment.payment_intent));
  return [...objects.charges.values()].filter(({ payment_intent }) => intents.includes(idOf(payment_intent)));
}
