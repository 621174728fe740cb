import type Stripe from 'stripe';
import { generateId, getId, toApiList } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';

interface SubscriptionInput {
  readonly at: number;
  readonly customer: string;
  readonly price: Stripe.Price;
  readonly quantity: number;
  readonly metadata: Stripe.Metadata;
  readonly end: number;
  /** Whether `end` is the end of a free trial. */
  readonly isTrial: boolean;
  readonly latestInvoice: string;
}

/**
 * Creates an active or trialing subscription.
 *
 * @see https://docs.stripe.com/api/subscriptions/object
 */
export function buildSubscription(id: string, input: SubscriptionInput): Stripe.Subscription {
  const { at, customer, price, quantity, metadata, end, isTrial, latestInvoice } = input;
  return {
    ...unsetFields,
    id,
    object: 'subscription',
    billing_cycle_anchor: toSeconds(isTrial ? end : at),
    created: toSeconds(at),
    currency: price.currency,
    customer,
    items: toApiList(`/v1/subscription_items?subscription=${id}`, [buildItem(id, { price, quantity, at, end })]),
    latest_invoice: latestInvoice,
    livemode: price.livemode,
    metadata,
    start_date: toSeconds(at),
    status: isTrial ? 'trialing' : 'active',
    trial_end: isTrial ? toSeconds(end) : null,
    trial_start: isTrial ? toSeconds(at) : null,
  };
}

const unsetFields = {
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor_config: null,
  billing_mode: { flexible: null, type: 'classic' },
  billing_schedules: [],
  billing_thresholds: null,
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
  collection_method: 'charge_automatically',
  customer_account: null,
  days_until_due: null,
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  ended_at: null,
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  managed_payments: null,
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pause_collection: null,
  payment_settings: null,
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  schedule: null,
  test_clock: null,
  transfer_data: null,
  trial_settings: null,
} satisfies Partial<Stripe.Subscription>;

interface ItemInput {
  readonly price: Stripe.Price;
  readonly quantity: number;
  readonly at: number;
  readonly end: number;
}

const buildItem = (subscription: string, { price, quantity, at, end }: ItemInput): Stripe.SubscriptionItem => ({
  id: generateId('si', 14),
  object: 'subscription_item',
  billing_thresholds: null,
  created: toSeconds(at),
  current_period_end: toSeconds(end),
  current_period_start: toSeconds(at),
  current_trial: null,
  discounts: [],
  metadata: {},
  plan: toPlan(price),
  price,
  quantity,
  subscription,
  tax_rates: [],
});

/** Converts a price to the deprecated plan object, which items still contain. */
const toPlan = (price: Stripe.Price): Stripe.Plan => ({
  id: price.id,
  object: 'plan',
  active: price.active,
  amount: price.unit_amount,
  amount_decimal: price.unit_amount_decimal,
  billing_scheme: 'per_unit',
  created: price.created,
  currency: price.currency,
  interval: price.recurring?.interval ?? 'month',
  interval_count: price.recurring?.interval_count ?? 1,
  livemode: price.livemode,
  metadata: {},
  meter: null,
  nickname: null,
  product: getId(price.product),
  tiers_mode: null,
  transform_usage: null,
  trial_period_days: null,
  usage_type: 'licensed',
});

/** Returns the single item of a subscription. */
export function getItem({ id, items }: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = items.data;
  if (item === undefined) throw new Error(`The items of ${id} are missing`);
  return item;
}

/** Copies a subscription with a changed item. */
export const withItem = (
  subscription: Stripe.Subscription,
  patch: Partial<Stripe.SubscriptionItem>,
): Stripe.Subscription => {
  const item = { ...getItem(subscription), ...patch };
  return { ...subscription, items: { ...subscription.items, data: [{ ...item, plan: toPlan(item.price) }] } };
};
