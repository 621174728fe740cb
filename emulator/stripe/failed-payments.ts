import type Stripe from 'stripe';
import { dayMs, secondMs } from '../calendar.ts';
import { getId, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent, listInvoices, saveSubscription } from './account-state.ts';
import { failOpenInvoice } from './billing.ts';
import { startNextPeriod } from './billing-periods.ts';
import { endSubscription } from './end-subscription.ts';
import { requireOpenInvoice } from './open-invoices.ts';
import { getEarliestEnd } from './subscription-objects.ts';
import { isEnded, isRunning, type SubscriptionTransition, withoutDebt } from './subscription-status.ts';

/**
 * Time of the retries of a failed payment: the default of Smart Retries.
 *
 * @see https://docs.stripe.com/billing/revenue-recovery/smart-retries
 */
const retriesMs = 14 * dayMs;

/**
 * Time after the due date of an emailed invoice after which the setting for failed payments applies. Stripe documents a
 * further deadline without its length, which is a setting of the account.
 *
 * @see https://docs.stripe.com/api/subscriptions/object#subscription_object-status
 */
const overdueMs = 30 * dayMs;

/**
 * Ends the retries of an overdue invoice and applies the setting of the account: the subscription is canceled, becomes
 * `unpaid` (default) or stays `past_due`.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function endRetries(state: AccountState, subscription: Stripe.Subscription, at: number): string {
  failOpenInvoice(state, subscription, at);
  return applyFailedPayments(state, subscription, at);
}

/** Applies the setting for failed payments to an overdue subscription. */
export function applyFailedPayments(state: AccountState, subscription: Stripe.Subscription, at: number): string {
  const { failedPayments = 'unpaid' } = state.settings();
  if (failedPayments === 'cancel') return endSubscription(state, { ...subscription, status: 'past_due' }, at, {});
  if (failedPayments === subscription.status) return subscription.id;
  return saveSubscription(state, { ...subscription, status: failedPayments }, at);
}

/** Starts another period of an overdue subscription: its invoice is a draft if the subscription is `unpaid`. */
export function startOverduePeriod(state: AccountState, subscription: Stripe.Subscription, at: number): string {
  const outcome = subscription.status === 'unpaid' ? 'draft' : 'failed';
  return saveSubscription(state, startNextPeriod(state, subscription, { at, outcome }), at);
}

/** The latest invoice of the subscription waits for another attempt. */
export const isRetrying = ({ records }: AccountState, { latest_invoice }: Stripe.Subscription): boolean =>
  records.objects.invoices.get(getId(latest_invoice))?.next_payment_attempt != null;

/** Scheduled change of a subscription that owes a payment. */
export interface OverdueStep {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly run: (state: AccountState, subscription: Stripe.Subscription, at: number) => unknown;
}

/** Lists the scheduled changes of a subscription with an unpaid invoice. */
export function listOverdueSteps(state: AccountState, subscription: Stripe.Subscription): OverdueStep[] {
  const { status } = subscription;
  if (isEnded(subscription) || status === 'incomplete') return [];
  const dueSteps = listPendingDueDates(state, subscription).map((at) => ({ at, run: passDueDate }));
  if (status !== 'past_due' && status !== 'unpaid') return dueSteps;
  return [...dueSteps, ...listRetrySteps(state, subscription), ...listPeriodSteps(state, subscription)];
}

/** The retries end automatically only if the account has a setting, so that a test can end them by an action. */
function listRetrySteps(state: AccountState, subscription: Stripe.Subscription): OverdueStep[] {
  const { failedPayments } = state.settings();
  const invoice = state.records.objects.invoices.get(getId(subscription.latest_invoice));
  if (subscription.status !== 'past_due' || failedPayments === undefined || invoice?.status !== 'open') return [];
  if (invoice.due_date !== null)
    return failedPayments === 'past_due'
      ? []
      : [{ at: invoice.due_date * secondMs + overdueMs, run: applyFailedPayments }];
  return isRetrying(state, subscription) ? [{ at: invoice.created * secondMs + retriesMs, run: endRetries }] : [];
}

function listPeriodSteps(state: AccountState, subscription: Stripe.Subscription): OverdueStep[] {
  const { id, status, collection_method, cancel_at } = subscription;
  const isEmailed = collection_method === 'send_invoice';
  const { failedPayments } = state.settings();
  const continues = isEmailed || (status === 'unpaid' ? failedPayments === 'unpaid' : failedPayments === 'past_due');
  const cancelation = cancel_at !== null && (isEmailed || failedPayments !== undefined);
  if (cancelation) return [{ at: cancel_at * secondMs, run: (...step) => endSubscription(...step, {}) }];
  if (!continues || !state.records.autoRenewing.has(id)) return [];
  return [{ at: getEarliestEnd(subscription) * secondMs, run: startOverduePeriod }];
}

/** Lists the due dates of open emailed invoices that have not passed yet. */
const listPendingDueDates = ({ records }: AccountState, { id }: Stripe.Subscription): number[] =>
  listInvoices(records, id).flatMap(({ id: invoice, status, due_date }) =>
    status === 'open' && due_date !== null && records.pendingDueDates.has(invoice) ? [due_date * secondMs] : [],
  );

/** An emailed invoice that is not paid at its due date makes the subscription `past_due`. */
function passDueDate(state: AccountState, subscription: Stripe.Subscription, at: number): void {
  const { id: purchaseId } = subscription;
  for (const object of listInvoices(state.records, purchaseId)) {
    if (object.status !== 'open' || object.due_date === null || object.due_date * secondMs > at) continue;
    if (state.records.pendingDueDates.delete(object.id))
      emitEvent(state, 'invoice.overdue', { purchaseId, at, object });
  }
  if (isRunning(subscription)) saveSubscription(state, { ...subscription, status: 'past_due' }, at);
}

/**
 * Marks the latest open invoice as uncollectible. The subscription becomes active, because it no longer owes its latest
 * invoice.
 *
 * @see https://docs.stripe.com/invoicing/overview#invoice-statuses
 */
export const markUncollectible: SubscriptionTransition = (state, subscription, at, details) => {
  const { id: purchaseId, status } = subscription;
  const invoice = requireOpenInvoice(state, purchaseId, details);
  const object = saveObject(state.records, 'invoices', {
    ...invoice,
    next_payment_attempt: null,
    status: 'uncollectible',
    status_transitions: { ...invoice.status_transitions, marked_uncollectible_at: Math.floor(at / secondMs) },
  });
  emitEvent(state, 'invoice.marked_uncollectible', { purchaseId, at, object });
  const isReactivated = (status === 'past_due' || status === 'unpaid') && subscription.latest_invoice === invoice.id;
  return isReactivated ? saveSubscription(state, withoutDebt(subscription, at), at) : purchaseId;
};
