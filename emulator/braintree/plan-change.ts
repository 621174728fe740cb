import { dayMs, toLocalDay } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { ActionBody } from '../purchase-order.ts';
import { chargeSubscription } from './billing.ts';
import { emitSubscriptionWebhook } from './emit-webhooks.ts';
import { gatewayTimeZone } from './gateway-time-zone.ts';
import { formatAmount, type ResponseContext, toMicros } from './merchant-state.ts';
import type { Subscription } from './records.ts';
import { getBillingPeriod } from './views.ts';

/**
 * Changes the plan or the price of a subscription with `prorateCharges`: an upgrade is charged for the rest of the
 * current period, a downgrade is credited to the balance. The billing cycle stays the same.
 *
 * @see https://developer.paypal.com/braintree/docs/guides/recurring-billing/manage/node#proration
 */
export function changePlan(context: ResponseContext, subscription: Subscription, details: ActionBody): void {
  const { productId = subscription.planId, priceMicros } = details;
  const { id, status, cycles, price: oldPrice } = subscription;
  if (status !== 'Active' || cycles === 0) throw controlError(422, `The subscription is ${status} or not billed yet.`);
  const plan = context.state.products.get(productId);
  const newMicros = priceMicros ?? plan?.priceMicros;
  if (newMicros === undefined) throw controlError(422, 'priceMicros: the product does not have a price.');
  if (!plan) context.state.products.set(productId, buildPlan(subscription, productId, newMicros));
  const at = context.now();
  const period = getBillingPeriod({ ...subscription, cycles: cycles - 1 });
  const micros = prorate(newMicros - toMicros(oldPrice), period, at);
  const changed = {
    ...subscription,
    planId: productId,
    price: formatAmount({ priceMicros: newMicros }),
    updatedAt: at,
    history: [{ status, timestamp: at, planId: productId }, ...subscription.history],
  };
  if (micros <= 0) {
    const balanceMicros = (subscription.balanceMicros ?? 0) + micros;
    context.state.subscriptions.set(id, { ...changed, balanceMicros });
    return;
  }
  const charged = chargeSubscription(context, changed, { at, micros, billingPeriod: period });
  context.state.subscriptions.set(id, charged);
  emitSubscriptionWebhook(context, 'subscription_charged_successfully', { id, at });
}

const buildPlan = ({ months, currency }: Subscription, productId: string, priceMicros: number) => ({
  productId,
  type: 'paid subscription' as const,
  priceMicros,
  currency,
  period: `P${months}M`,
});

/** Returns the part of a price for the days that remain of a period, in whole cents. */
function prorate(micros: number, [start, end]: readonly [number, number], at: number): number {
  const days = (end - start) / dayMs + 1;
  const remaining = Math.max(0, (end - toLocalDay(at, gatewayTimeZone)) / dayMs + 1);
  return Math.round((micros * remaining) / days / 10_000) * 10_000;
}
