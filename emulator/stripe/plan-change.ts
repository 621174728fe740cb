import type Stripe from 'stripe';
import { addPeriod, secondMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { type AccountState, requirePossible, saveSubscription } from './account-state.ts';
import { billSubscription } from './billing.ts';
import { buildPeriodLine } from './billing-periods.ts';
import { getPeriod, toSeconds } from './catalogue.ts';
import { getOrCreatePrice } from './get-or-create-price.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';
import { addPendingLines } from './pending-lines.ts';
import { getItem, withItem, withPeriod } from './subscription-objects.ts';
import type { SubscriptionTransition } from './subscription-status.ts';

/** Changes the product of a subscription. The difference is charged or credited immediately. */
export const changePlan: SubscriptionTransition = (
  state,
  subscription,
  at,
  { productId, priceMicros, currency, period, deferred = false },
) => {
  if (productId === undefined) throw controlError(400, 'productId is missing.');
  const request = {
    productId,
    type: 'paid subscription' as const,
    ...(priceMicros !== undefined && { priceMicros }),
    ...(currency !== undefined && { currency }),
    ...(period !== undefined && { period }),
  };
  const price = getOrCreatePrice(state, request, { at, livemode: subscription.livemode });
  const priceIds = subscription.items.data.map((item) => item.price.id);
  requirePossible(!priceIds.includes(price.id), subscription.id, 'has this price already');
  return saveSubscription(state, switchPrice(state, subscription, { price, at, deferred }), at);
};

interface PriceSwitch {
  readonly price: Stripe.Price;
  readonly at: number;
  readonly quantity?: number;
  /** The next invoice bills the proration. An invoice is due immediately if the interval changes. */
  readonly deferred?: boolean;
}

/**
 * Changes the price of a subscription and bills the proration, by default immediately.
 *
 * @see https://docs.stripe.com/billing/subscriptions/prorations
 */
export function switchPrice(
  state: AccountState,
  subscription: Stripe.Subscription,
  { price, at, quantity, deferred = false }: PriceSwitch,
): Stripe.Subscription {
  const item = getItem(subscription);
  requirePossible(
    subscription.status === 'active' || subscription.status === 'trialing' || subscription.status === 'past_due',
    subscription.id,
    `is ${subscription.status}`,
  );
  // A control action can fail a payment ahead of the clock. Stripe lacks an invoice of a period that has not started.
  const isUnpaidAhead = subscription.status === 'past_due' && item.current_period_start > toSeconds(at);
  requirePossible(!isUnpaidAhead, subscription.id, 'has failed a payment ahead of the clock');
  requirePossible(price.currency === subscription.currency, subscription.id, `is billed in ${subscription.currency}`);
  const units = quantity ?? item.quantity ?? 1;
  if (subscription.status === 'trialing') return withItem(subscription, { price, quantity: units });
  const period = { start: item.current_period_start * secondMs, end: item.current_period_end * secondMs };
  const keepsPeriod = getPeriod(price) === getPeriod(item.price);
  requirePossible(
    keepsPeriod || subscription.items.data.length === 1,
    subscription.id,
    'has several items: the emulator changes the interval of a single item only',
  );
  const remainingShare = getRemainingShare(period, at);
  const next = keepsPeriod ? { start: at, end: period.end } : { start: at, end: addPeriod(at, getPeriod(price)) };
  const newItem = { ...item, price, quantity: units };
  const credit = buildProrationLine(item, { start: at, end: period.end, share: -remainingShare });
  const charge = keepsPeriod
    ? buildProrationLine(newItem, { ...next, share: remainingShare })
    : buildPeriodLine(newItem, next);
  const reanchored = keepsPeriod ? subscription : { ...subscription, billing_cycle_anchor: toSeconds(at) };
  const changed = withItem(reanchored, {
    ...(!keepsPeriod && withPeriod(item, next)),
    price,
    quantity: units,
  });
  if (deferred && keepsPeriod) {
    addPendingLines(state.records, subscription.id, [charge, credit]);
    return changed;
  }
  return billSubscription(state, changed, {
    at,
    reason: 'subscription_update',
    lines: [credit, charge],
    outcome: 'paid',
  });
}

/** Returns the share of a period that remains. */
export const getRemainingShare = ({ start, end }: { start: number; end: number }, at: number): number =>
  Math.min(1, Math.max(0, (end - at) / (end - start)));

/** Creates the invoice line for a part of a period of an item: a credit if `share` is negative. */
export const buildProrationLine = (
  { id, price, quantity = 1 }: Stripe.SubscriptionItem,
  { start, end, share }: { start: number; end: number; share: number },
): InvoiceLineInput => ({
  item: id,
  price,
  quantity,
  start,
  end,
  amount: Math.sign(share) * Math.round((price.unit_amount ?? 0) * quantity * Math.abs(share)),
  isProration: true,
});
