import type Stripe from 'stripe';
import * as v from 'valibot';
import { addPeriod, Period, secondMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { type AccountObjects, generateId, getId, saveObject } from './account-objects.ts';
import { emitEvent, requirePossible, saveSubscription } from './account-state.ts';
import { toSeconds } from './catalogue.ts';
import { getEarliestEnd } from './subscription-objects.ts';
import { isRunning, type SubscriptionTransition } from './subscription-status.ts';

/**
 * Attaches a schedule of one phase that ends at `end`, by default with the current period, and cancels the subscription
 * then. The subscription does not show the end.
 *
 * @see https://docs.stripe.com/billing/subscriptions/subscription-schedules
 */
export const scheduleEnd: SubscriptionTransition = (state, subscription, at, { end }) => {
  const { id: purchaseId, status, schedule, livemode } = subscription;
  requirePossible(isRunning(subscription), purchaseId, `is ${status}`);
  requirePossible(schedule === null, purchaseId, 'has a schedule');
  const periodEnd = getEarliestEnd(subscription) * secondMs;
  const endAt = end === undefined ? periodEnd : v.is(Period, end) ? addPeriod(at, end) : Date.parse(end);
  if (!(endAt > at)) throw controlError(400, `end: expected a later time or a period, not ${end}.`);
  const object = saveObject(state.records, 'subscription_schedules', buildSchedule(subscription, { at, endAt }));
  emitEvent(state, 'subscription_schedule.created', { purchaseId, at, object: { ...object, livemode } });
  return saveSubscription(state, { ...subscription, schedule: object.id }, at);
};

/** Finds the time at which the schedule of a subscription cancels it, in epoch seconds. */
export function findScheduledEnd({ objects }: AccountObjects, { schedule }: Stripe.Subscription): number | null {
  const attached = objects.subscription_schedules.get(getId(schedule));
  return attached?.phases.at(-1)?.end_date ?? null;
}

/** @see https://docs.stripe.com/api/subscription_schedules/object */
function buildSchedule(
  { id, billing_mode, collection_method, currency, customer, items, livemode }: Stripe.Subscription,
  { at, endAt }: { at: number; endAt: number },
): Stripe.SubscriptionSchedule {
  const [start_date, end_date] = [toSeconds(at), toSeconds(endAt)];
  const shared = {
    application_fee_percent: null,
    billing_thresholds: null,
    collection_method,
    default_payment_method: null,
    description: null,
    on_behalf_of: null,
    transfer_data: null,
  };
  return {
    id: generateId('sub_sched'),
    object: 'subscription_schedule',
    application: null,
    billing_mode,
    canceled_at: null,
    completed_at: null,
    created: start_date,
    current_phase: { start_date, end_date },
    customer,
    customer_account: null,
    default_settings: {
      ...shared,
      billing_cycle_anchor: 'automatic',
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
    },
    end_behavior: 'cancel',
    livemode,
    metadata: {},
    pause_schedules: [],
    phases: [
      {
        ...shared,
        add_invoice_items: [],
        billing_cycle_anchor: null,
        currency,
        discounts: [],
        end_date,
        invoice_settings: null,
        items: items.data.map(({ price, quantity }) => ({
          billing_thresholds: null,
          discounts: [],
          metadata: {},
          plan: price.id,
          price: price.id,
          ...(quantity !== undefined && { quantity }),
        })),
        metadata: {},
        proration_behavior: 'create_prorations',
        start_date,
        trial_end: null,
      },
    ],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: id,
    test_clock: null,
  };
}
