import type Stripe from 'stripe';
import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { generateId, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { billSubscription } from './billing.ts';
import { buildPeriodLines } from './billing-periods.ts';
import { getPeriod } from './catalogue.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';
import { buildInvoiceItemLine } from './invoice-lines.ts';
import { buildSubscription } from './subscription-objects.ts';

interface PriceLine {
  readonly price: Stripe.Price;
  readonly quantity: number;
}

/** Terms of a new subscription. */
export interface SubscriptionTerms {
  readonly at: number;
  readonly customer: string;
  /** Recurring prices are items of the subscription. The others are billed once. */
  readonly lines: readonly PriceLine[];
  readonly trialDays: number;
  readonly metadata: Stripe.Metadata;
  readonly autoRenew: boolean;
  /** The payment of the first invoice takes days. */
  readonly isPending: boolean;
  readonly taxRates: readonly Stripe.TaxRate[];
  readonly daysUntilDue?: number | undefined;
  readonly backdate?: Period | undefined;
}

/** Creates a subscription and bills its first invoice. */
export function startSubscription(state: AccountState, terms: SubscriptionTerms): Stripe.Subscription {
  const { at, customer, metadata, isPending, daysUntilDue, taxRates } = terms;
  const id = generateId('sub');
  const isTrial = terms.trialDays > 0;
  const trialEnd = isTrial ? at + terms.trialDays * dayMs : undefined;
  const recurring = terms.lines.filter(({ price }) => price.recurring !== null);
  const startDate = terms.backdate === undefined ? undefined : addPeriod(at, terms.backdate, -1);
  const unbilled = buildSubscription(id, {
    at,
    customer,
    items: recurring.map((line) => ({ ...line, end: trialEnd ?? addPeriod(at, getPeriod(line.price)) })),
    metadata,
    trialEnd,
    latestInvoice: '',
    startDate,
    daysUntilDue,
    taxRates,
  });
  const periods = buildPeriodLines(unbilled.items.data);
  const created: Stripe.Subscription = isPending ? { ...unbilled, status: 'incomplete' } : unbilled;
  const subscription = billSubscription(state, created, {
    at,
    reason: 'subscription_create',
    // Invoice items come before the lines of subscription items.
    // https://docs.stripe.com/api/invoices/object#invoice_object-lines
    lines: [
      ...buildOneTimeLines(terms),
      ...(startDate === undefined ? [] : unbilled.items.data.map((item) => buildBackdatedLine(item, startDate, at))),
      ...(isTrial ? periods.map((period) => ({ ...period, amount: 0 })) : periods),
    ],
    outcome: isPending ? 'processing' : 'paid',
  });
  saveObject(state.records, 'subscriptions', subscription);
  if (terms.autoRenew) state.records.autoRenewing.add(id);
  if (isTrial) state.records.pendingTrialReminders.add(id);
  emitEvent(state, 'customer.subscription.created', { purchaseId: id, at, object: subscription });
  return subscription;
}

const buildOneTimeLines = ({ lines, at }: SubscriptionTerms): InvoiceLineInput[] =>
  lines
    .filter(({ price }) => price.recurring === null)
    .map(({ price, quantity }) => buildInvoiceItemLine(price, { quantity, at }));

/**
 * Bills the time between the backdated start of a subscription and its creation, as parts of the periods that would
 * have started then.
 *
 * @see https://docs.stripe.com/billing/subscriptions/backdating
 */
function buildBackdatedLine(item: Stripe.SubscriptionItem, start: number, at: number): InvoiceLineInput {
  const { id, price, quantity = 1 } = item;
  const getStart = (times: number): number => addPeriod(start, getPeriod(price), times);
  let periods = 0;
  while (getStart(periods + 1) <= at) periods += 1;
  const share = periods + (at - getStart(periods)) / (getStart(periods + 1) - getStart(periods));
  const amount = Math.round((price.unit_amount ?? 0) * quantity * share);
  return { item: id, price, quantity, start, end: at, amount, isProration: true };
}
