import type Stripe from 'stripe';
import { generateId, getId, toApiList } from './account-objects.ts';
import { requirePossible } from './account-state.ts';
import { getPeriod, isMetered, toSeconds } from './catalogue.ts';

/** A price to subscribe to, with the end of its first period. */
export interface ItemInput {
  readonly price: Stripe.Price;
  readonly quantity: number;
  readonly end: number;
}

interface SubscriptionInput {
  readonly at: number;
  readonly customer: string;
  /** At least one. */
  readonly items: readonly ItemInput[];
  readonly metadata: Stripe.Metadata;
  /** End of a free trial. */
  readonly trialEnd: number | undefined;
  readonly latestInvoice: string;
  /** Time before the creation at which the subscription started. Default: its creation. */
  readonly startDate?: number | undefined;
  /** Days until the due date of emailed invoices. Undefined if the customer is charged. */
  readonly daysUntilDue?: number | undefined;
  readonly taxRates?: readonly Stripe.TaxRate[];
}

/**
 * Creates an active or trialing subscription.
 *
 * @see https://docs.stripe.com/api/subscriptions/object
 */
export function buildSubscription(id: string, input: SubscriptionInput): Stripe.Subscription {
  const { at, customer, items, metadata, trialEnd, latestInvoice, daysUntilDue, startDate = at } = input;
  const prices = items.map(({ price }) => price);
  const trial_end = trialEnd === undefined ? null : toSeconds(trialEnd);
  return {
    ...unsetFields,
    id,
    object: 'subscription',
    billing_cycle_anchor: trial_end ?? toSeconds(at),
    billing_mode: { flexible: null, type: new Set(prices.map(getPeriod)).size > 1 ? 'flexible' : 'classic' },
    collection_method: daysUntilDue === undefined ? 'charge_automatically' : 'send_invoice',
    created: toSeconds(at),
    currency: prices[0]?.currency ?? 'usd',
    customer,
    days_until_due: daysUntilDue ?? null,
    default_tax_rates: [...(input.taxRates ?? [])],
    items: toApiList(
      `/v1/subscription_items?subscription=${id}`,
      items.map((item) => buildItem(id, item, at)),
    ),
    latest_invoice: latestInvoice,
    livemode: prices[0]?.livemode ?? true,
    metadata,
    start_date: toSeconds(startDate),
    status: trial_end === null ? 'active' : 'trialing',
    trial_end,
    trial_start: trial_end === null ? null : toSeconds(at),
  };
}

const unsetFields = {
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor_config: null,
  billing_schedules: [],
  billing_thresholds: null,
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
  customer_account: null,
  default_payment_method: null,
  default_source: null,
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

/** Creates an item whose first period starts at `at`. */
export const buildItem = (
  subscription: string,
  { price, quantity, end }: ItemInput,
  at: number,
): Stripe.SubscriptionItem => ({
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
  ...(!isMetered(price) && { quantity }),
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
  usage_type: price.recurring?.usage_type ?? 'licensed',
});

/** Returns the first item of a subscription. */
export function getItem({ id, items }: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = items.data;
  if (item === undefined) throw new Error(`The items of ${id} are missing`);
  return item;
}

/**
 * Copies a subscription with other items. A cancelation at the end of the period follows the earliest end of the items.
 *
 * @see https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
 */
export function withItems(
  subscription: Stripe.Subscription,
  data: readonly Stripe.SubscriptionItem[],
): Stripe.Subscription {
  const changed = { ...subscription, items: { ...subscription.items, data: [...data] } };
  return changed.cancel_at_period_end ? { ...changed, cancel_at: getEarliestEnd(changed) } : changed;
}

/** Copies a subscription with its first item changed. */
export const withItem = (
  subscription: Stripe.Subscription,
  patch: Partial<Stripe.SubscriptionItem>,
): Stripe.Subscription => {
  const [, ...others] = subscription.items.data;
  const item = { ...getItem(subscription), ...patch };
  return withItems(subscription, [{ ...item, plan: toPlan(item.price) }, ...others]);
};

/**
 * Copies an item with another period. A control action can renew ahead of the clock, and Stripe lacks an invoice of a
 * period after the current one: a period that ends before the renewed one starts is rejected.
 */
export function withPeriod(
  item: Stripe.SubscriptionItem,
  { start, end }: { readonly start: number; readonly end: number },
): Stripe.SubscriptionItem {
  const isAfterRenewal = toSeconds(end) > item.current_period_start;
  requirePossible(isAfterRenewal, item.subscription, 'was renewed ahead of the clock');
  return { ...item, current_trial: null, current_period_start: toSeconds(start), current_period_end: toSeconds(end) };
}

/** Returns the latest start of the current periods. A control action can begin a period ahead of the time. */
export const getLatestStart = ({ items }: Stripe.Subscription): number =>
  Math.max(...items.data.map(({ current_period_start }) => current_period_start));

/** Returns the earliest end of the current periods: items with different intervals have different periods. */
export const getEarliestEnd = ({ items }: Stripe.Subscription): number =>
  Math.min(...items.data.map(({ current_period_end }) => current_period_end));
