import type Stripe from 'stripe';
import { addPeriod, secondMs } from '../calendar.ts';
import { generateId, getId, saveObject } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { billSubscription } from './billing.ts';
import { getPeriod, isMetered } from './catalogue.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';
import { toInvoiceSubscription } from './invoice-lines.ts';
import { buildInvoice, type InvoiceOutcome } from './invoice-objects.ts';
import { takePendingLines } from './pending-lines.ts';
import { getEarliestEnd, withItems, withPeriod } from './subscription-objects.ts';

/** Creates the invoice line of a whole period of an item. */
export const buildPeriodLine = (
  { id, price, quantity = isMetered(price) ? 0 : 1 }: Stripe.SubscriptionItem,
  { start, end }: { start: number; end: number },
): InvoiceLineInput => ({
  item: id,
  price,
  quantity,
  start,
  end,
  amount: (price.unit_amount ?? 0) * quantity,
  isProration: false,
});

/** Creates the invoice lines of the current periods of items. Stripe sorts them in reverse chronological order. */
export const buildPeriodLines = (items: readonly Stripe.SubscriptionItem[]): InvoiceLineInput[] =>
  items
    .map((item) =>
      buildPeriodLine(item, { start: item.current_period_start * secondMs, end: item.current_period_end * secondMs }),
    )
    .reverse();

/** Starts the next period of a subscription and bills it. */
export function startNextPeriod(
  state: AccountState,
  subscription: Stripe.Subscription,
  { at, outcome }: { at: number; outcome: InvoiceOutcome },
): Stripe.Subscription {
  const { renewed, period, lines } = advancePeriod(state, subscription, at);
  const pending = takePendingLines(state.records, subscription.id);
  return billSubscription(state, renewed, {
    at: period.start,
    reason: 'subscription_cycle',
    lines: [...pending, ...lines],
    outcome,
  });
}

/**
 * Starts the next period of a subscription with a void invoice. Stripe does not send events of a void invoice.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause-payment
 */
export function startVoidPeriod(
  state: AccountState,
  subscription: Stripe.Subscription,
  at: number,
): Stripe.Subscription {
  const { renewed, period, lines } = advancePeriod(state, subscription, at);
  const invoice = buildInvoice(generateId('in'), {
    at: period.start,
    subscription: toInvoiceSubscription(subscription),
    customer: getId(subscription.customer),
    reason: 'subscription_cycle',
    lines,
    outcome: 'void',
    address: null,
    startingBalance: 0,
  });
  saveObject(state.records, 'invoices', invoice);
  return { ...renewed, latest_invoice: invoice.id };
}

/**
 * Starts the next period of the items whose period ends first. Items whose periods end together share an invoice.
 *
 * @see https://docs.stripe.com/billing/subscriptions/mixed-interval
 */
function advancePeriod({ records }: AccountState, subscription: Stripe.Subscription, at: number) {
  const dueSeconds = getEarliestEnd(subscription);
  const advance = (item: Stripe.SubscriptionItem): Stripe.SubscriptionItem =>
    item.current_period_end === dueSeconds ? withPeriod(item, computeNextPeriod(subscription, item, at)) : item;
  const items = subscription.items.data.map(advance);
  const due = items.filter((item, index) => item !== subscription.items.data[index]);
  const start = Math.max(...due.map(({ current_period_start }) => current_period_start)) * secondMs;
  const lines = buildPeriodLines(due).map((line) => withUsage(records, line, subscription));
  return { renewed: withItems(subscription, items), period: { start }, lines };
}

/**
 * Bills the usage of a metered item in the period that has ended. Lines of other items stay the same.
 *
 * @see https://docs.stripe.com/billing/subscriptions/usage-based/how-it-works
 */
function withUsage(
  { usage }: AccountState['records'],
  line: InvoiceLineInput,
  { items }: Stripe.Subscription,
): InvoiceLineInput {
  const ended = items.data.find(({ id }) => id === line.item);
  if (!ended || !isMetered(line.price)) return line;
  const quantity = usage.get(ended.id) ?? 0;
  usage.delete(ended.id);
  const period = { start: ended.current_period_start * secondMs, end: ended.current_period_end * secondMs };
  return buildPeriodLine({ ...ended, quantity }, period);
}

/** Computes the next period. Skips periods that ended before `at`. */
function computeNextPeriod(
  { billing_cycle_anchor }: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
  at: number,
): { start: number; end: number } {
  const period = getPeriod(item.price);
  // Counts from the anchor: a short month must not shorten the periods after it.
  const anchor = billing_cycle_anchor * secondMs;
  let start = item.current_period_end * secondMs;
  for (let times = 1; ; times++) {
    const end = addPeriod(anchor, period, times);
    if (end > start && end > at) return { start, end };
    if (end > start) start = end;
  }
}
