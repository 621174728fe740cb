import type Stripe from 'stripe';
import { dayMs, secondMs } from '../calendar.ts';
import { getId, saveObject } from './account-objects.ts';
import { type AccountState, saveSubscription } from './account-state.ts';
import { apiError, notFoundError } from './api-error.ts';
import { toSeconds } from './catalogue.ts';
import type { ApiWrite } from './checkout-api.ts';
import { endSubscription } from './end-subscription.ts';
import { type Form, readForm, readMetadata, readText, rejectUnknownParams, requireText } from './form.ts';
import { endTrial, withTrialEnd } from './move-trial.ts';
import { pause, resume } from './pausing.ts';
import { refundCharge } from './payment-reversals.ts';
import { switchPrice } from './plan-change.ts';
import { getItem } from './subscription-objects.ts';
import { cancelAtPeriodEnd, resumeRenewal } from './subscription-transitions.ts';

function requireApiSubscription({ records }: AccountState, id: string): Stripe.Subscription {
  const subscription = records.objects.subscriptions.get(id);
  if (subscription === undefined) throw notFoundError('subscription', id);
  return subscription;
}

const updateParams = [
  'trial_end',
  'items',
  'proration_behavior',
  'payment_behavior',
  'cancel_at_period_end',
  'metadata',
  'expand',
];

/** `POST /v1/subscriptions/{id}`: changes the price, the cancelation at the period end or the metadata. */
export function updateSubscription(state: AccountState, id: string, { form, at }: ApiWrite): Stripe.Subscription {
  rejectUnknownParams(form, updateParams);
  const before = requireApiSubscription(state, id);
  if (before.status === 'canceled') {
    throw apiError(400, 'A canceled subscription can only update its cancellation_details and metadata.');
  }
  if (form.items !== undefined)
    saveSubscription(state, withPrice(state, before, { item: readForm(readForm(form.items)['0']), at }), at);
  const trialEnd = readText(form.trial_end);
  if (trialEnd !== undefined)
    saveSubscription(state, moveTrialEnd(state, requireApiSubscription(state, id), { trialEnd, at }), at);
  const cancelParam = readText(form.cancel_at_period_end);
  const { cancel_at_period_end: isCanceling } = before;
  if (cancelParam === 'true' && !isCanceling) cancelAtPeriodEnd(state, requireApiSubscription(state, id), at, {});
  if (cancelParam === 'false' && isCanceling) resumeRenewal(state, requireApiSubscription(state, id), at, {});
  if (form.metadata !== undefined) {
    const current = requireApiSubscription(state, id);
    saveSubscription(state, { ...current, metadata: { ...current.metadata, ...readMetadata(form.metadata) } }, at);
  }
  return requireApiSubscription(state, id);
}

/** Maximum time of a trial after the anchor of the billing cycle. */
const maxTrialMs = 2 * 366 * dayMs;

/** Parses `trial_end`: `now`, or a time in epoch seconds. */
function moveTrialEnd(
  state: AccountState,
  subscription: Stripe.Subscription,
  { trialEnd, at }: { trialEnd: string; at: number },
): Stripe.Subscription {
  if (trialEnd === 'now') return subscription.status === 'trialing' ? endTrial(state, subscription, at) : subscription;
  const end = Number(trialEnd);
  if (!Number.isInteger(end) || end <= toSeconds(at))
    throw apiError(400, 'Invalid timestamp: must be an integer Unix timestamp in the future.', { param: 'trial_end' });
  if (end * secondMs > at + maxTrialMs)
    throw apiError(400, 'Trial end must be within two years of the billing cycle anchor.', { param: 'trial_end' });
  return withTrialEnd(state, subscription, { at, end });
}

function withPrice(
  state: AccountState,
  before: Stripe.Subscription,
  { item, at }: { item: Form; at: number },
): Stripe.Subscription {
  rejectUnknownParams(item, ['id', 'price', 'quantity'], 'items[0]');
  if (requireText(item, 'id') !== getItem(before).id)
    throw notFoundError('subscription_item', requireText(item, 'id'), 'items[0][id]');
  const price = state.records.objects.prices.get(requireText(item, 'price'));
  if (price === undefined) throw notFoundError('price', requireText(item, 'price'), 'items[0][price]');
  if (!price.recurring)
    throw apiError(400, 'The price specified is set to `type=one_time`.', { param: 'items[0][price]' });
  const quantity = readText(item.quantity);
  return switchPrice(state, before, { price, at, ...(quantity !== undefined && { quantity: Number(quantity) }) });
}

/** `POST /v1/subscriptions/{id}/pause` */
export function pauseSubscription(state: AccountState, id: string, { form, at }: ApiWrite): Stripe.Subscription {
  rejectUnknownParams(form, ['expand']);
  pause(state, requireApiSubscription(state, id), at, {});
  return requireApiSubscription(state, id);
}

/** `POST /v1/subscriptions/{id}/resume`: starts a period immediately. */
export function resumeSubscription(state: AccountState, id: string, { form, at }: ApiWrite): Stripe.Subscription {
  rejectUnknownParams(form, ['expand']);
  resume(state, requireApiSubscription(state, id), at, {});
  return requireApiSubscription(state, id);
}

/** `DELETE /v1/subscriptions/{id}`: ends the subscription immediately. */
export function cancelSubscription(state: AccountState, id: string, at: number): Stripe.Subscription {
  const subscription = requireApiSubscription(state, id);
  if (subscription.status === 'canceled') throw notFoundError('subscription', id);
  endSubscription(state, subscription, at, {});
  return requireApiSubscription(state, id);
}

/** `POST /v1/refunds`: refunds a charge or a payment intent, fully or partially. */
export function createRefund(state: AccountState, { form, at }: ApiWrite): Stripe.Refund {
  rejectUnknownParams(form, ['charge', 'payment_intent', 'amount', 'reason', 'metadata']);
  const { records } = state;
  const intent = readText(form.payment_intent);
  const id =
    intent === undefined
      ? requireText(form, 'charge')
      : getId(records.objects.payment_intents.get(intent)?.latest_charge);
  const charge = records.objects.charges.get(id);
  if (charge === undefined) throw notFoundError(intent === undefined ? 'charge' : 'payment_intent', intent ?? id);
  const refundable = charge.amount - charge.amount_refunded;
  if (refundable === 0)
    throw apiError(400, `Charge ${id} has already been refunded.`, { code: 'charge_already_refunded' });
  const amount = Number(readText(form.amount) ?? refundable);
  if (!(amount > 0 && amount <= refundable))
    throw apiError(400, 'Refund amount is greater than unrefunded amount on charge.', { param: 'amount' });
  const invoicePayment = [...records.objects.invoice_payments.values()].find(
    ({ payment }) => getId(payment.payment_intent) === getId(charge.payment_intent),
  );
  const invoice = records.objects.invoices.get(getId(invoicePayment?.invoice));
  const purchaseId = getId(invoice?.parent?.subscription_details?.subscription) || getId(charge.payment_intent);
  const refund = refundCharge(state, charge, { amount, purchaseId, at });
  return saveObject(records, 'refunds', { ...refund, metadata: readMetadata(form.metadata) });
}
