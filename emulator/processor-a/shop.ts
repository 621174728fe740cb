import type Stripe from 'stripe';
import type { StoreMessage } from '../emulated-store.ts';
import { refusal } from '../refusal.ts';
import { apiVersion } from './api-error.ts';
import { type Books, enter, idOf, newId } from './books.ts';
import { seconds } from './catalogue.ts';

/** Where things happen: the books, the clock and the events that are told of it. */
export interface Shop {
  readonly books: Books;
  readonly now: () => number;
  readonly tell: (message: StoreMessage) => void;
}

/** Sends an event of the account: its type and the object as it is now. */
export function tellOf(
  { tell }: Shop,
  type: string,
  {
    purchaseId,
    at,
    object,
  }: { purchaseId: string; at: number; object: { readonly object: string; readonly livemode?: boolean } },
): void {
  const { livemode = true } = object;
  const event = {
    id: newId('evt'),
    object: 'event',
    api_version: apiVersion,
    created: seconds(at),
    data: { object },
    livemode,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
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
export function settle(
  shop: Shop,
  subscription: Stripe.Subscription,
  at: number,
  type = 'customer.subscription.updated',
): string {
  enter(shop.books, 'subscriptions', subscription);
  tellOf(shop, type, { purchaseId: subscription.id, at, object: subscription });
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
