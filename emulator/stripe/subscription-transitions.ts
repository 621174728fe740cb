import { secondMs } from '../calendar.ts';
import { getId, getObject } from './account-objects.ts';
import { requirePossible, saveSubscription } from './account-state.ts';
import { payLatestInvoice } from './billing.ts';
import { startNextPeriod, startVoidPeriod } from './billing-periods.ts';
import { toSeconds } from './catalogue.ts';
import { applyFailedPayments, endRetries, isRetrying, startOverduePeriod } from './failed-payments.ts';
import { failProcessingPayment, hasProcessingPayment } from './pending-payment.ts';
import { getEarliestEnd } from './subscription-objects.ts';
import { isEnded, isRunning, type SubscriptionTransition } from './subscription-status.ts';

/**
 * Starts the next period with a successful payment, with a debit that takes days (`pending`), or with a void invoice
 * while payment collection is paused. A subscription that stays `past_due` becomes active: its latest invoice is paid.
 */
export const renew: SubscriptionTransition = (state, subscription, at, { pending = false }) => {
  const { id, status, cancel_at_period_end } = subscription;
  const isEmailed = subscription.collection_method === 'send_invoice';
  const isLeftPastDue = status === 'past_due' && (isEmailed || state.settings().failedPayments === 'past_due');
  requirePossible(isRunning(subscription) || isLeftPastDue, id, `is ${status} and cannot renew`);
  requirePossible(!cancel_at_period_end, id, 'is canceled and cannot renew');
  const renewed =
    subscription.pause_collection === null
      ? startNextPeriod(state, subscription, { at, outcome: pending ? 'processing' : 'paid' })
      : startVoidPeriod(state, subscription, at);
  return saveSubscription(state, { ...renewed, status: isLeftPastDue && isEmailed ? 'past_due' : 'active' }, at);
};

/**
 * Cancels a subscription at the end of its period. With different intervals it is the earliest end, for all items.
 *
 * @see https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
 */
export const cancelAtPeriodEnd: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(
    !isEnded(subscription) && subscription.status !== 'incomplete',
    subscription.id,
    `is ${subscription.status}`,
  );
  requirePossible(!subscription.cancel_at_period_end, subscription.id, 'is already canceled');
  return saveSubscription(
    state,
    {
      ...subscription,
      cancel_at_period_end: true,
      cancel_at: getEarliestEnd(subscription),
      canceled_at: toSeconds(at),
      cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: 'cancellation_requested' },
    },
    at,
  );
};

/** Reverts the cancelation at the end of the period. */
export const resumeRenewal: SubscriptionTransition = (state, subscription, at) => {
  requirePossible(!isEnded(subscription) && subscription.cancel_at_period_end, subscription.id, 'is not canceled');
  const cancellation_details = { comment: null, feedback: null, feedback_option: null, reason: null };
  return saveSubscription(
    state,
    { ...subscription, cancel_at_period_end: false, cancel_at: null, canceled_at: null, cancellation_details },
    at,
  );
};

/**
 * Fails a payment: the status becomes `past_due`, or the one of the account's setting without grace and after a second
 * failure. A subscription that stays `past_due` starts another unpaid period.
 */
export const failPayment: SubscriptionTransition = (state, subscription, at, { grace = true }) => {
  const { id, status, cancel_at_period_end, pause_collection } = subscription;
  if (status !== 'incomplete' && hasProcessingPayment(state, id)) return failProcessingPayment(state, subscription, at);
  if (status === 'past_due') {
    const isOver = at >= getEarliestEnd(subscription) * secondMs || !isRetrying(state, subscription);
    const stays = state.settings().failedPayments === 'past_due';
    return stays && isOver ? startOverduePeriod(state, subscription, at) : endRetries(state, subscription, at);
  }
  requirePossible(isRunning(subscription) && !cancel_at_period_end, id, `is ${status} and cannot fail a payment`);
  requirePossible(pause_collection === null, id, 'has paused its collection');
  const billed = startNextPeriod(state, subscription, { at, outcome: 'failed' });
  // A credit of the customer has paid it.
  const isPaid = getObject(state.records, 'invoices', getId(billed.latest_invoice)).status === 'paid';
  if (isPaid) return saveSubscription(state, billed, at);
  if (!grace) return applyFailedPayments(state, billed, at);
  return saveSubscription(state, { ...billed, status: 'past_due' }, at);
};

/** Pays the latest invoice, which is overdue. Earlier open invoices stay open. */
export const recover: SubscriptionTransition = (state, subscription, at) => {
  const { id, status } = subscription;
  requirePossible(
    status === 'past_due' || status === 'unpaid',
    id,
    `is ${status} and does not have an overdue payment`,
  );
  payLatestInvoice(state, subscription, at);
  return saveSubscription(state, { ...subscription, status: 'active' }, at);
};
