import type { EpochMillis } from '../../foundation/time.ts';
import { toMillis } from './money.ts';
import { type Billing, findCurrentPayment, listUnpaidTime, maxGap, type PeriodBilling } from './paid-periods.ts';
import type { Subscription } from './payloads.ts';
import { findGrantedEnd } from './trials.ts';

/** The time of an item that is unpaid although Stripe requested the payment. */
export interface UnpaidTime {
  readonly since: EpochMillis;
  /** Last failed attempt to pay the first unpaid period. */
  readonly lastFailure: EpochMillis | undefined;
  /** The first unpaid invoice was emailed: Stripe does not attempt its payment. */
  readonly isEmailed?: boolean;
  /** Attempts to collect the first unpaid invoice. */
  readonly attempts?: number | null;
}

interface UnpaidContext {
  readonly subscription: Subscription;
  /** Current product and period of the item. */
  readonly terms: { readonly productId: string; readonly periodStart: number; readonly periodEnd: number };
  /** The unpaid invoices of the subscription bill other items only. */
  readonly areOthersUnpaid: boolean;
  readonly now: EpochMillis;
}

/**
 * Finds the unpaid time of an item: from the end of the paid time, or from the later failure or due date of the first
 * unpaid invoice, until a payment. Other unpaid periods do not start it again. Stripe requests a payment without
 * result if the subscription is `past_due` or `unpaid`, also months later, or if the invoice failed before the
 * subscription was canceled or the invoice marked as uncollectible.
 *
 * A period is not unpaid as long as its payment is pending or not due, if its invoice is void, or if Stripe did not
 * try to collect it because collection was paused. An unpaid extra invoice or added seats leave a paid period paid; an
 * unpaid change to another product does not pay that product.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 * @see https://docs.stripe.com/billing/collection-method
 */
export function findUnpaidTime(billings: readonly Billing[], context: UnpaidContext): UnpaidTime | undefined {
  const { subscription, terms, areOthersUnpaid } = context;
  const paid = findCurrentPayment(billings);
  // A paid change of the plan replaces the period of the former one, paid or not.
  const unpaid = listUnpaidTime(billings).filter(
    (billing) => (!paid || billing.period.start >= paid.period.start) && !isPendingUpdate(billing, terms.periodStart),
  );
  const isAsked = subscription.status === 'past_due' || subscription.status === 'unpaid';
  if (isAsked && paid && paid.period.end >= terms.periodEnd) return findUnpaidChange(unpaid, paid, terms.productId);
  if (isAsked && !paid && areOthersUnpaid) return undefined;
  const paidUntil = paid
    ? (findGrantedEnd(paid.period, subscription) ?? paid.period.end)
    : (unpaid[0]?.period.start ?? terms.periodStart);
  const { until, billing } = followUnpaid(unpaid, paidUntil);
  if (billing) return isAsked || hasFailed(billing, context) ? toUnpaidTime(billing, until) : undefined;
  return isAsked && until < terms.periodEnd ? { since: toMillis(until), lastFailure: undefined } : undefined;
}

/**
 * Finds the first unpaid billing after the paid time, and the end of that time with the periods that Stripe gave away.
 * Without an invoice for the time after it, the paid time just ends.
 */
function followUnpaid(unpaid: readonly PeriodBilling[], paidUntil: number) {
  let until = paidUntil;
  for (const billing of unpaid) {
    if (billing.period.end <= until) continue;
    if (billing.period.start > until + maxGap) break;
    if (!isGivenAway(billing)) return { until, billing };
    until = billing.period.end;
  }
  return { until };
}

/**
 * The update of a subscription to another period was not applied because its payment failed. Stripe voids its invoice.
 * @see https://docs.stripe.com/billing/subscriptions/pending-updates
 */
const isPendingUpdate = ({ kind, period, share: { invoice } }: PeriodBilling, periodStart: number): boolean =>
  kind === 'period' &&
  invoice.billing_reason === 'subscription_update' &&
  period.start !== periodStart &&
  period.end > periodStart;

/**
 * Stripe does not request the payment, or no longer does. A draft is not an invoice yet. Stripe requests the payment
 * of an emailed invoice, which has a due date, without an attempt.
 */
const isGivenAway = ({ share: { invoice } }: PeriodBilling): boolean =>
  invoice.status === 'void' ||
  invoice.status === 'draft' ||
  (invoice.status === 'uncollectible' && invoice.attempted === false && invoice.due_date === null);

/** The payment failed, although the status of the subscription does not show it. */
function hasFailed({ share: { invoice, failures } }: PeriodBilling, { subscription, now }: UnpaidContext): boolean {
  const { status, cancellation_details: details } = subscription;
  if (status === 'canceled') return details?.reason === 'payment_failed' || failures !== undefined;
  const isOverdue = invoice.due_date !== null && toMillis(invoice.due_date) <= now;
  const isRunning = status === 'active' || status === 'paused';
  return isRunning && (invoice.status === 'uncollectible' || failures !== undefined || isOverdue);
}

/** Finds the unpaid change to another product within the paid period of the former one. */
function findUnpaidChange(
  unpaid: readonly PeriodBilling[],
  paid: PeriodBilling,
  productId: string,
): UnpaidTime | undefined {
  const getProduct = ({ line }: Billing) => line?.pricing?.price_details?.product;
  const change = unpaid.find(
    (billing) => !isGivenAway(billing) && getProduct(billing) === productId && getProduct(paid) !== productId,
  );
  return change && toUnpaidTime(change, change.period.start);
}

function toUnpaidTime({ share: { invoice, failures } }: PeriodBilling, paidUntil: number): UnpaidTime {
  const { due_date, created, status_transitions, attempt_count: attempts } = invoice;
  const failure = due_date ?? failures?.first ?? status_transitions?.finalized_at ?? created;
  return {
    since: toMillis(Math.max(paidUntil, failure)),
    lastFailure: failures && toMillis(failures.last),
    isEmailed: due_date !== null,
    attempts,
  };
}
