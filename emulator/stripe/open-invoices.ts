import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import { type AccountState, listInvoices, requirePossible, saveSubscription } from './account-state.ts';
import { payInvoice } from './billing.ts';
import { withoutDebt } from './subscription-status.ts';

/** Returns the open invoice with the id in the body. Default: the latest open invoice. */
export function requireOpenInvoice(
  { records }: AccountState,
  purchaseId: string,
  { invoice: id }: ActionBody,
): Stripe.Invoice {
  const open = listInvoices(records, purchaseId).findLast(
    (invoice) => invoice.status === 'open' && (id === undefined || invoice.id === id),
  );
  requirePossible(
    open !== undefined,
    purchaseId,
    id === undefined ? 'has no open invoice' : `has no open invoice ${id}`,
  );
  return open;
}

/**
 * Pays an open invoice of a subscription. The latest invoice makes an overdue subscription active, even after its due
 * date. An earlier one does not change the status.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function payOpenInvoice(
  state: AccountState,
  subscription: Stripe.Subscription,
  { at, details }: { at: number; details: ActionBody },
): string {
  const { id: purchaseId, status, latest_invoice } = subscription;
  const invoice = requireOpenInvoice(state, purchaseId, details);
  payInvoice(state, invoice, { purchaseId, at, isOutside: details.record === true });
  const isReactivated = (status === 'past_due' || status === 'unpaid') && latest_invoice === invoice.id;
  return isReactivated ? saveSubscription(state, withoutDebt(subscription, at), at) : purchaseId;
}
