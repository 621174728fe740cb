import type Stripe from 'stripe';
import { getId, saveObject } from './account-objects.ts';
import { type AccountState, saveSubscription } from './account-state.ts';
import { apiError, notFoundError } from './api-error.ts';
import type { ApiWrite } from './checkout-api.ts';
import { type Form, readForm, readMetadata, readText, rejectUnknownParams, requireText } from './form.ts';
import { applyPause, applyResume } from './pausing.ts';
import { refundCharge } from './payment-reversals.ts';
import { switchPrice } from './plan-change.ts';
import { getItem } from './subscription-objects.ts';
import { cancelAtPeriodEnd, endSubscription, resumeRenewal } from './subscription-transitions.ts';

function requireApiSubscription({ books }: AccountState, id: string): Stripe.Subscription {
  const subscription = books.objects.subscriptions.get(id);
  if (subscription === undefined) throw notFoundError('subscription', id);
  return subscription;
}

const updatable = ['items', 'proration_behavior', 'payment_behavior', 'cancel_at_period_end', 'metadata', 'expand'];

/** `POST /v1/subscriptions/{id}`: another price, the wish to end or not, metadata. */
export function updateSubscription(shop: AccountState, id: string, { form, at }: ApiWrite): Stripe.Subscription {
  rejectUnknownParams(form, updatable);
  const before = requireApiSubscription(shop, id);
  if (before.status === 'canceled') {
    throw apiError(400, 'A canceled subscription can only update its cancellation_details and metadata.');
  }
  if (form.items !== undefined)
    saveSubscription(shop, withPrice(shop, before, { item: readForm(readForm(form.items)['0']), at }), at);
  const wish = readText(form.cancel_at_period_end);
  const { cancel_at_period_end: ends } = before;
  if (wish === 'true' && !ends) cancelAtPeriodEnd(shop, requireApiSubscription(shop, id), at, {});
  if (wish === 'false' && ends) resumeRenewal(shop, requireApiSubscription(shop, id), at, {});
  if (form.metadata !== undefined) {
    const now = requireApiSubscription(shop, id);
    saveSubscription(shop, { ...now, metadata: { ...now.metadata, ...readMetadata(form.metadata) } }, at);
  }
  return requireApiSubscription(shop, id);
}

function withPrice(
  shop: AccountState,
  before: Stripe.Subscription,
  { item, at }: { item: Form; at: number },
): Stripe.Subscription {
  rejectUnknownParams(item, ['id', 'price', 'quantity'], 'items[0]');
  if (requireText(item, 'id') !== getItem(before).id)
    throw notFoundError('subscription_item', requireText(item, 'id'), 'items[0][id]');
  const price = shop.books.objects.prices.get(requireText(item, 'price'));
  if (price === undefined) throw notFoundError('price', requireText(item, 'price'), 'items[0][price]');
  if (!price.recurring)
    throw apiError(400, 'The price specified is set to `type=one_time`.', { param: 'items[0][price]' });
  const quantity = readText(item.quantity);
  return switchPrice(shop, before, { price, at, ...(quantity !== undefined && { quantity: Number(quantity) }) });
}

/** `POST /v1/subscriptions/{id}/pause`: it stands still from now on. */
export function pauseSubscription(shop: AccountState, id: string, { form, at }: ApiWrite): Stripe.Subscription {
  rejectUnknownParams(form, ['expand']);
  applyPause(shop, requireApiSubscription(shop, id), at);
  return requireApiSubscription(shop, id);
}

/** `POST /v1/subscriptions/{id}/resume`: with a period that begins now. */
export function resumeSubscription(shop: AccountState, id: string, { form, at }: ApiWrite): Stripe.Subscription {
  rejectUnknownParams(form, ['expand']);
  applyResume(shop, requireApiSubscription(shop, id), at);
  return requireApiSubscription(shop, id);
}

/** `DELETE /v1/subscriptions/{id}`: it ends now. */
export function cancelSubscription(shop: AccountState, id: string, at: number): Stripe.Subscription {
  const subscription = requireApiSubscription(shop, id);
  if (subscription.status === 'canceled') throw notFoundError('subscription', id);
  endSubscription(shop, subscription, at, {});
  return requireApiSubscription(shop, id);
}

/** `POST /v1/refunds`: of a charge or a payment, whole or in part. */
export function createRefund(shop: AccountState, { form, at }: ApiWrite): Stripe.Refund {
  rejectUnknownParams(form, ['charge', 'payment_intent', 'amount', 'reason', 'metadata']);
  const { books } = shop;
  const intent = readText(form.payment_intent);
  const id =
    intent === undefined
      ? requireText(form, 'charge')
      : getId(books.objects.payment_intents.get(intent)?.latest_charge);
  const charge = books.objects.charges.get(id);
  if (charge === undefined) throw notFoundError(intent === undefined ? 'charge' : 'payment_intent', intent ?? id);
  const left = charge.amount - charge.amount_refunded;
  if (left === 0) throw apiError(400, `Charge ${id} has already been refunded.`, { code: 'charge_already_refunded' });
  const amount = Number(readText(form.amount) ?? left);
  if (!(amount > 0 && amount <= left))
    throw apiError(400, 'Refund amount is greater than unrefunded amount on charge.', { param: 'amount' });
  const invoice = [...books.objects.invoice_payments.values()].find(
    ({ payment }) => getId(payment.payment_intent) === getId(charge.payment_intent),
  );
  const paid = books.objects.invoices.get(getId(invoice?.invoice));
  const purchaseId = getId(paid?.parent?.subscription_details?.subscription) || getId(charge.payment_intent);
  const refund = refundCharge(shop, charge, { amount, purchaseId, at });
  return saveObject(books, 'refunds', { ...refund, metadata: readMetadata(form.metadata) });
}
