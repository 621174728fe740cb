import type Stripe from 'stripe';
import { apiError, missing } from './api-error.ts';
import { enter, idOf } from './books.ts';
import { type Form, innerOf, metadataOf, onlyKnown, required, textOf } from './form.ts';
import { cancel, end, uncancel } from './life.ts';
import { refundCharge } from './money-back.ts';
import { pauseWhole, resumeWhole } from './pausing.ts';
import { switched } from './plan-change.ts';
import type { Change } from './sales-api.ts';
import { type Shop, settle } from './shop.ts';
import { itemOf } from './subscription-objects.ts';

function subscriptionNamed({ books }: Shop, id: string): Stripe.Subscription {
  const subscription = books.objects.subscriptions.get(id);
  if (subscription === undefined) throw missing('subscription', id);
  return subscription;
}

const updatable = ['items', 'proration_behavior', 'payment_behavior', 'cancel_at_period_end', 'metadata', 'expand'];

/** `POST /v1/subscriptions/{id}`: another price, the wish to end or not, metadata. */
export function updateSubscription(shop: Shop, id: string, { form, at }: Change): Stripe.Subscription {
  onlyKnown(form, updatable);
  const before = subscriptionNamed(shop, id);
  if (before.status === 'canceled') {
    throw apiError(400, 'A canceled subscription can only update its cancellation_details and metadata.');
  }
  if (form.items !== undefined)
    settle(shop, withPrice(shop, before, { item: innerOf(innerOf(form.items)['0']), at }), at);
  const wish = textOf(form.cancel_at_period_end);
  const { cancel_at_period_end: ends } = before;
  if (wish === 'true' && !ends) cancel(shop, subscriptionNamed(shop, id), at, {});
  if (wish === 'false' && ends) uncancel(shop, subscriptionNamed(shop, id), at, {});
  if (form.metadata !== undefined) {
    const now = subscriptionNamed(shop, id);
    settle(shop, { ...now, metadata: { ...now.metadata, ...metadataOf(form.metadata) } }, at);
  }
  return subscriptionNamed(shop, id);
}

function withPrice(
  shop: Shop,
  before: Stripe.Subscription,
  { item, at }: { item: Form; at: number },
): Stripe.Subscription {
  onlyKnown(item, ['id', 'price', 'quantity'], 'items[0]');
  if (required(item, 'id') !== itemOf(before).id)
    throw missing('subscription_item', required(item, 'id'), 'items[0][id]');
  const price = shop.books.objects.prices.get(required(item, 'price'));
  if (price === undefined) throw missing('price', required(item, 'price'), 'items[0][price]');
  if (!price.recurring)
    throw apiError(400, 'The price specified is set to `type=one_time`.', { param: 'items[0][price]' });
  const quantity = textOf(item.quantity);
  return switched(shop, before, { price, at, ...(quantity !== undefined && { quantity: Number(quantity) }) });
}

/** `POST /v1/subscriptions/{id}/pause`: it stands still from now on. */
export function pauseSubscription(shop: Shop, id: string, { form, at }: Change): Stripe.Subscription {
  onlyKnown(form, ['expand']);
  pauseWhole(shop, subscriptionNamed(shop, id), at);
  return subscriptionNamed(shop, id);
}

/** `POST /v1/subscriptions/{id}/resume`: with a period that begins now. */
export function resumeSubscription(shop: Shop, id: string, { form, at }: Change): Stripe.Subscription {
  onlyKnown(form, ['expand']);
  resumeWhole(shop, subscriptionNamed(shop, id), at);
  return subscriptionNamed(shop, id);
}

/** `DELETE /v1/subscriptions/{id}`: it ends now. */
export function cancelSubscription(shop: Shop, id: string, at: number): Stripe.Subscription {
  const subscription = subscriptionNamed(shop, id);
  if (subscription.status === 'canceled') throw missing('subscription', id);
  end(shop, subscription, at, {});
  return subscriptionNamed(shop, id);
}

/** `POST /v1/refunds`: of a charge or a payment, whole or in part. */
export function createRefund(shop: Shop, { form, at }: Change): Stripe.Refund {
  onlyKnown(form, ['charge', 'payment_intent', 'amount', 'reason', 'metadata']);
  const { books } = shop;
  const intent = textOf(form.payment_intent);
  const id =
    intent === undefined ? required(form, 'charge') : idOf(books.objects.payment_intents.get(intent)?.latest_charge);
  const charge = books.objects.charges.get(id);
  if (charge === undefined) throw missing(intent === undefined ? 'charge' : 'payment_intent', intent ?? id);
  const left = charge.amount - charge.amount_refunded;
  if (left === 0) throw apiError(400, `Charge ${id} has already been refunded.`, { code: 'charge_already_refunded' });
  const amount = Number(textOf(form.amount) ?? left);
  if (!(amount > 0 && amount <= left))
    throw apiError(400, 'Refund amount is greater than unrefunded amount on charge.', { param: 'amount' });
  const invoice = [...books.objects.invoice_payments.values()].find(
    ({ payment }) => idOf(payment.payment_intent) === idOf(charge.payment_intent),
  );
  const paid = books.objects.invoices.get(idOf(invoice?.invoice));
  const purchaseId = idOf(paid?.parent?.subscription_details?.subscription) || idOf(charge.payment_intent);
  const refund = refundCharge(shop, charge, { amount, purchaseId, at });
  return enter(books, 'refunds', { ...refund, metadata: metadataOf(form.metadata) });
}
