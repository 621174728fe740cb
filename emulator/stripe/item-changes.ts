import type Stripe from 'stripe';
import { addPeriod, secondMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { generateId, getId } from './account-objects.ts';
import { requirePossible, saveSubscription } from './account-state.ts';
import { billSubscription } from './billing.ts';
import { buildPeriodLine } from './billing-periods.ts';
import { getPeriod } from './catalogue.ts';
import { getOrCreatePrice } from './get-or-create-price.ts';
import { buildProrationLine, getRemainingShare } from './plan-change.ts';
import { buildItem, withItems } from './subscription-objects.ts';
import type { SubscriptionTransition } from './subscription-status.ts';

/**
 * Adds an item to a subscription. The remaining part of its period, which ends with the billing cycle, is billed
 * immediately, or free by a trial offer.
 *
 * @see https://docs.stripe.com/billing/subscriptions/multiple-products
 * @see https://docs.stripe.com/billing/subscriptions/trials
 */
export const addItem: SubscriptionTransition = (state, subscription, at, details) => {
  const { productId, priceMicros, period, trial = false } = details;
  const { id, status, items, billing_cycle_anchor } = subscription;
  if (productId === undefined || priceMicros === undefined) {
    throw controlError(400, 'productId and priceMicros are required.');
  }
  requirePossible(status === 'active', id, `is ${status}`);
  const request = {
    productId,
    priceMicros,
    type: 'paid subscription' as const,
    currency: subscription.currency.toUpperCase(),
    ...(period !== undefined && { period }),
  };
  const price = getOrCreatePrice(state, request, { at, livemode: subscription.livemode });
  requirePossible(!items.data.some((item) => item.price.id === price.id), id, 'has this price already');
  const cycle = findCycle(
    billing_cycle_anchor * secondMs,
    (times, anchor) => addPeriod(anchor, getPeriod(price), times),
    at,
  );
  const regular = buildItem(id, { price, quantity: 1, end: cycle.end }, at);
  const item = trial ? withTrialOffer(regular) : regular;
  const line = trial
    ? { ...buildPeriodLine(item, { start: at, end: cycle.end }), amount: 0 }
    : buildProrationLine(item, { start: at, end: cycle.end, share: getRemainingShare(cycle, at) });
  const billed = billSubscription(state, withItems(subscription, [...items.data, item]), {
    at,
    reason: 'subscription_update',
    lines: [line],
    outcome: 'paid',
  });
  return saveSubscription(state, billed, at);
};

const withTrialOffer = (item: Stripe.SubscriptionItem): Stripe.SubscriptionItem => ({
  ...item,
  current_trial: {
    start_date: item.current_period_start,
    end_date: item.current_period_end,
    trial_offer: generateId('to'),
  },
});

/** Finds the billing cycle that contains a time. */
function findCycle(
  anchor: number,
  computeEnd: (times: number, anchor: number) => number,
  at: number,
): { start: number; end: number } {
  let start = anchor;
  for (let times = 1; ; times++) {
    const end = computeEnd(times, anchor);
    if (end > at) return { start, end };
    start = end;
  }
}

/**
 * Removes an item from a subscription and credits the remaining part of its period.
 *
 * @see https://docs.stripe.com/api/subscription_items/delete
 */
export const removeItem: SubscriptionTransition = (state, subscription, at, { productId }) => {
  const { id, status, items } = subscription;
  requirePossible(status === 'active', id, `is ${status}`);
  const item = items.data.find(({ price }) => getId(price.product) === productId);
  requirePossible(item !== undefined, id, `does not have an item of ${productId ?? 'the missing productId'}`);
  requirePossible(items.data.length > 1, id, 'has only this item');
  const period = { start: item.current_period_start * secondMs, end: item.current_period_end * secondMs };
  // The action `renew` starts a period before its time, which Stripe never does.
  requirePossible(period.start <= at, id, 'was renewed before the end of its period');
  const credit = buildProrationLine(item, { start: at, end: period.end, share: -getRemainingShare(period, at) });
  const changed = withItems(
    subscription,
    items.data.filter((other) => other !== item),
  );
  const billed = billSubscription(state, changed, {
    at,
    reason: 'subscription_update',
    lines: [credit],
    outcome: 'paid',
  });
  return saveSubscription(state, billed, at);
};
