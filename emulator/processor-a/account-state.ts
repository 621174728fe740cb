import type Stripe from 'stripe';
import { controlError } from '../control-error.ts';
import type { StoreNotification } from '../emulated-store.ts';
import { type AccountObjects, generateId, getId, getObject, saveObject } from './account-objects.ts';
import { apiVersion } from './api-error.ts';
import { toSeconds } from './catalogue.ts';
import { diffPreviousAttributes } from './previous-attributes.ts';

/** Where things happen: the books, the clock and the events that are told of it. */
export interface AccountState {
  readonly books: AccountObjects;
  readonly now: () => number;
  readonly tell: (message: StoreNotification) => void;
  /** The call of the API that makes things happen; absent when nobody called. */
  readonly request?: Stripe.Event.Request;
}

interface EventInput {
  readonly purchaseId: string;
  readonly at: number;
  readonly object: { readonly object: string; readonly livemode?: boolean };
  /** The object before it changed, where the event shows what changed. */
  readonly before?: object;
}

/** Sends an event of the account: its type and the object as it is now. */
export function emitEvent(
  { now, tell, request }: AccountState,
  type: string,
  { purchaseId, object, before, ...told }: EventInput,
): void {
  // A renewal that is asked for early bills the coming period, but is told of now.
  const at = Math.min(told.at, now());
  const event = {
    id: generateId('evt'),
    object: 'event',
    api_version: apiVersion,
    created: toSeconds(at),
    data: { object, ...(before && { previous_attributes: diffPreviousAttributes(before, object) }) },
    livemode: object.livemode ?? true,
    pending_webhooks: 1,
    request: request ?? { id: null, idempotency_key: null },
    type,
  };
  tell({ purchaseId, at, native: event });
}

/** The subscription of a purchase; refuses a purchase that is none. */
export function requireSubscription({ books }: AccountState, id: string): Stripe.Subscription {
  const subscription = books.objects.subscriptions.get(id);
  if (subscription === undefined) throw controlError(422, `${id} is not a subscription.`);
  return subscription;
}

/** Refuses what the processor does not do in this state. */
export function requirePossible(isPossible: boolean, id: string, problem: string): asserts isPossible {
  if (!isPossible) throw controlError(422, `${id} ${problem}.`);
}

/** Writes the changed subscription down and tells of it. */
export function saveSubscription(shop: AccountState, subscription: Stripe.Subscription, at: number): string {
  const { id: purchaseId } = subscription;
  const before = getObject(shop.books, 'subscriptions', purchaseId);
  saveObject(shop.books, 'subscriptions', subscription);
  emitEvent(shop, 'customer.subscription.updated', { purchaseId, at, object: subscription, before });
  return purchaseId;
}

/** Writes the subscription down as it is now, and tells that it ended, was paused or goes on. */
export function saveSubscriptionAs(
  shop: AccountState,
  turn: 'deleted' | 'paused' | 'resumed',
  { subscription, at }: { readonly subscription: Stripe.Subscription; readonly at: number },
): string {
  saveObject(shop.books, 'subscriptions', subscription);
  emitEvent(shop, `customer.subscription.${turn}`, { purchaseId: subscription.id, at, object: subscription });
  return subscription.id;
}

/** The invoices of a subscription, oldest first. */
export const listInvoices = ({ objects }: AccountObjects, subscription: string): Stripe.Invoice[] =>
  [...objects.invoices.values()].filter(
    ({ parent }) => getId(parent?.subscription_details?.subscription) === subscription,
  );

/** The charges that paid, or tried to pay, an invoice. */
export function listInvoiceCharges({ objects }: AccountObjects, invoice: string): Stripe.Charge[] {
  const intents = [...objects.invoice_payments.values()]
    .filter((payment) => getId(payment.invoice) === invoice)
    .map(({ payment }) => getId(payment.payment_intent));
  return [...objects.charges.values()].filter(({ payment_intent }) => intents.includes(getId(payment_intent)));
}
