import type Stripe from 'stripe';
import { addPeriod } from '../calendar.ts';
import { refusal } from '../refusal.ts';
import { bill, wholePeriod } from './billing.ts';
import { periodOf, seconds } from './catalogue.ts';
import type { Charged } from './invoice-objects.ts';
import type { Step } from './life.ts';
import { demand, type Shop, settle } from './shop.ts';
import { stock } from './stock.ts';
import { itemOf, withItem } from './subscription-objects.ts';

/** The customer switches to another product, and pays or is credited the difference now. */
export const changePlan: Step = (shop, subscription, at, { productId, priceMicros, currency, period }) => {
  if (productId === undefined) throw refusal(400, 'productId: expected the product to change to.');
  const wish = {
    productId,
    type: 'paid subscription' as const,
    ...(priceMicros !== undefined && { priceMicros }),
    ...(currency !== undefined && { currency }),
    ...(period !== undefined && { period }),
  };
  const price = stock(shop, wish, { at, livemode: subscription.livemode });
  demand(price.id !== itemOf(subscription).price.id, subscription.id, 'has this price already');
  return settle(shop, switched(shop, subscription, { price, at }), at);
};

/** The subscription with another price, the difference billed at once. */
export function switched(
  shop: Shop,
  subscription: Stripe.Subscription,
  { price, at, quantity }: { price: Stripe.Price; at: number; quantity?: number },
): Stripe.Subscription {
  const item = itemOf(subscription);
  demand(
    subscription.status === 'active' || subscription.status === 'trialing' || subscription.status === 'past_due',
    subscription.id,
    `is ${subscription.status}`,
  );
  demand(price.currency === subscription.currency, subscription.id, `is billed in ${subscription.currency}`);
  const units = quantity ?? item.quantity ?? 1;
  if (subscription.status === 'trialing') return withItem(subscription, { price, quantity: units });
  const period = { start: item.current_period_start * 1000, end: item.current_period_end * 1000 };
  const keepsPeriod = periodOf(price) === periodOf(item.price);
  const left = leftOf(period, at);
  const next = keepsPeriod ? { start: at, end: period.end } : { start: at, end: addPeriod(at, periodOf(price)) };
  const credit = part(item.price, { ...next, quantity: item.quantity ?? 1, share: -left, end: period.end });
  const charge = keepsPeriod ? part(price, { ...next, quantity: units, share: left }) : wholePeriod(price, units, next);
  const anchored = keepsPeriod ? subscription : { ...subscription, billing_cycle_anchor: seconds(at) };
  const moved = withItem(anchored, {
    price,
    quantity: units,
    ...(!keepsPeriod && { current_period_start: seconds(next.start), current_period_end: seconds(next.end) }),
  });
  return bill(shop, moved, { at, reason: 'subscription_update', lines: [credit, charge], paid: true });
}

const leftOf = ({ start, end }: { start: number; end: number }, at: number): number =>
  Math.min(1, Math.max(0, (end - at) / (end - start)));

const part = (
  price: Stripe.Price,
  { start, end, quantity, share }: { start: number; end: number; quantity: number; share: number },
): Charged => ({
  price,
  quantity,
  start,
  end,
  amount: Math.sign(share) * Math.round((price.unit_amount ?? 0) * quantity * Math.abs(share)),
  isProration: true,
});
