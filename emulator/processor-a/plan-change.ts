import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { type AccountState, requirePossible, saveSubscription } from './account-state.ts';
import { billSubscription, buildPeriodLine } from './billing.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { getOrCreatePrice } from './get-or-create-price.ts';
import type { InvoiceLineInput } from './invoice-objects.ts';
import { getItem, withItem } from './subscription-objects.ts';
import type { SubscriptionTransition } from './subscription-transitions.ts';

/** The customer switches to another product, and pays or is credited the difference now. */
export const changePlan: SubscriptionTransition = (
  shop,
  subscription,
  at,
  { productId, priceMicros, currency, period },
) => {
  if (productId === undefined) throw controlError(400, 'productId: expected the product to change to.');
  const wish = {
    productId,
    type: 'paid subscription' as const,
    ...(priceMicros !== undefined && { priceMicros }),
    ...(currency !== undefined && { currency }),
    ...(period !== undefined && { period }),
  };
  const price = getOrCreatePrice(shop, wish, { at, livemode: subscription.livemode });
  requirePossible(price.id !== getItem(subscription).price.id, subscription.id, 'has this price already');
  return saveSubscription(shop, switchPrice(shop, subscription, { price, at }), at);
};

/** The subscription with another price, the difference billed at once. */
export function switchPrice(
  shop: AccountState,
  subscription: Stripe.Subscription,
  { price, at, quantity }: { price: Stripe.Price; at: number; quantity?: number },
): Stripe.Subscription {
  const item = getItem(subscription);
  requirePossible(
    subscription.status === 'active' || subscription.status === 'trialing' || subscription.status === 'past_due',
    subscription.id,
    `is ${subscription.status}`,
  );
  requirePossible(price.currency === subscription.currency, subscription.id, `is billed in ${subscription.currency}`);
  const units = quantity ?? item.quantity ?? 1;
  if (subscription.status === 'trialing') return withItem(subscription, { price, quantity: units });
  const period = { start: item.current_period_start * 1000, end: item.current_period_end * 1000 };
  const keepsPeriod = getPeriod(price) === getPeriod(item.price);
  const left = getRemainingShare(period, at);
  const next = keepsPeriod ? { start: at, end: period.end } : { start: at, end: addPeriod(at, getPeriod(price)) };
  const credit = buildProrationLine(item.price, {
    ...next,
    quantity: item.quantity ?? 1,
    share: -left,
    end: period.end,
  });
  const charge = keepsPeriod
    ? buildProrationLine(price, { ...next, quantity: units, share: left })
    : buildPeriodLine(price, units, next);
  const anchored = keepsPeriod ? subscription : { ...subscription, billing_cycle_anchor: toSeconds(at) };
  const moved = withItem(anchored, {
    price,
    quantity: units,
    ...(!keepsPeriod && { current_period_start: toSeconds(next.start), current_period_end: toSeconds(next.end) }),
  });
  return billSubscription(shop, moved, { at, reason: 'subscription_update', lines: [credit, charge], paid: true });
}

const getRemainingShare = ({ start, end }: { start: number; end: number }, at: number): number =>
  Math.min(1, Math.max(0, (end - at) / (end - start)));

const buildProrationLine = (
  price: Stripe.Price,
  { start, end, quantity, share }: { start: number; end: number; quantity: number; share: number },
): InvoiceLineInput => ({
  price,
  quantity,
  start,
  end,
  amount: Math.sign(share) * Math.round((price.unit_amount ?? 0) * quantity * Math.abs(share)),
  isProration: true,
});
