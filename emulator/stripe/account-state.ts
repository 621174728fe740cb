import type Stripe from 'stripe';
import type { AccountSettings } from '../account-settings.ts';
import { controlError } from '../control-error.ts';
import type { StoreNotification } from '../emulated-store.ts';
import { type AccountObjects, generateId, getId, getObject, saveObject } from './account-objects.ts';
import { apiVersion } from './api-error.ts';
import { toSeconds } from './catalogue.ts';
import { cutLists } from './cut-lists.ts';
import { diffPreviousAttributes } from './previous-attributes.ts';

/** Stored objects, clock and event output of an account. */
export interface AccountState {
  readonly records: AccountObjects;
  readonly now: () => number;
  readonly settings: () => AccountSettings;
  readonly emitNotification: (message: StoreNotification) => void;
  /** URL of the webhook endpoint; undefined if none is set. */
  readonly getNotificationUrl: () => string | undefined;
  /** The API request that causes the change. Undefined for a scheduled change or a control API action. */
  readonly request?: Stripe.Event.Request;
}

interface EventInput {
  readonly purchaseId: string;
  readonly at: number;
  readonly object: { readonly object: string; readonly livemode?: boolean };
  /** State before the change, if the event contains `previous_attributes`. */
  readonly before?: object;
}

/**
 * Emits an event with the current state of an object.
 *
 * @see https://docs.stripe.com/api/events/object
 */
export function emitEvent(
  { now, settings, emitNotification, request }: AccountState,
  type: string,
  { purchaseId, before, ...input }: EventInput,
): void {
  const { listLength } = settings();
  const object = cutLists(input.object, listLength);
  // A `renew` action before the end of the period bills the next period, but its event occurs now.
  const at = Math.min(input.at, now());
  const event = {
    id: generateId('evt'),
    object: 'event',
    api_version: apiVersion,
    created: toSeconds(at),
    data: {
      object,
      ...(before && { previous_attributes: diffPreviousAttributes(cutLists(before, listLength), object) }),
    },
    livemode: object.livemode ?? true,
    pending_webhooks: 1,
    request: request ?? { id: null, idempotency_key: null },
    type,
  };
  emitNotification({ purchaseId, at, native: event });
}

/** Returns the subscription with an id. Throws 422 if the purchase is not a subscription. */
export function requireSubscription({ records }: AccountState, id: string): Stripe.Subscription {
  const subscription = records.objects.subscriptions.get(id);
  if (subscription === undefined) throw controlError(422, `${id} is not a subscription.`);
  return subscription;
}

/** Throws 422 if the object's status does not allow an action. */
export function requirePossible(isPossible: boolean, id: string, problem: string): asserts isPossible {
  if (!isPossible) throw controlError(422, `${id} ${problem}.`);
}

/** Saves a changed subscription and emits `customer.subscription.updated`. Returns its id. */
export function saveSubscription(state: AccountState, subscription: Stripe.Subscription, at: number): string {
  const { id: purchaseId } = subscription;
  const before = getObject(state.records, 'subscriptions', purchaseId);
  saveObject(state.records, 'subscriptions', subscription);
  emitEvent(state, 'customer.subscription.updated', { purchaseId, at, object: subscription, before });
  return purchaseId;
}

/** Saves a subscription and emits the event of a transition. Returns its id. */
export function saveSubscriptionAs(
  state: AccountState,
  transition: 'deleted' | 'paused' | 'resumed',
  { subscription, at }: { readonly subscription: Stripe.Subscription; readonly at: number },
): string {
  saveObject(state.records, 'subscriptions', subscription);
  emitEvent(state, `customer.subscription.${transition}`, { purchaseId: subscription.id, at, object: subscription });
  return subscription.id;
}

/** Lists the invoices of a subscription, oldest first. */
export const listInvoices = ({ objects }: AccountObjects, subscription: string): Stripe.Invoice[] =>
  [...objects.invoices.values()].filter(
    ({ parent }) => getId(parent?.subscription_details?.subscription) === subscription,
  );

/** Lists the invoices of a subscription, or of the payment of a checkout. */
export function listPurchaseInvoices(records: AccountObjects, purchaseId: string): Stripe.Invoice[] {
  const { invoices, invoice_payments } = records.objects;
  const ofPayment = [...invoice_payments.values()].filter(
    ({ payment }) => getId(payment.payment_intent) === purchaseId,
  );
  const paidIds = ofPayment.map(({ invoice }) => getId(invoice));
  return [...listInvoices(records, purchaseId), ...[...invoices.values()].filter(({ id }) => paidIds.includes(id))];
}

export const listInvoicePayments = ({ objects }: AccountObjects, invoice: string): Stripe.InvoicePayment[] =>
  [...objects.invoice_payments.values()].filter((payment) => getId(payment.invoice) === invoice);

/** Lists the successful and failed charges of an invoice. */
export function listInvoiceCharges({ objects }: AccountObjects, invoice: string): Stripe.Charge[] {
  const intents = [...objects.invoice_payments.values()]
    .filter((payment) => getId(payment.invoice) === invoice)
    .map(({ payment }) => getId(payment.payment_intent));
  return [...objects.charges.values()].filter(({ payment_intent }) => intents.includes(getId(payment_intent)));
}
