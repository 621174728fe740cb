import type { EpochMillis } from '../../foundation/time.ts';
import { sumTotals } from './invoices.ts';
import type { ItemTerms } from './item-terms.ts';
import type { MappingContext } from './mapping-context.ts';
import { toMillis, toOptionalMillis } from './money.ts';
import { type Billing, findCurrentPayment, hasPeriodPrice, listPaidTime, type PeriodBilling } from './paid-periods.ts';
import type { Subscription, SubscriptionSchedule } from './payloads.ts';
import type { PaymentReversal } from './payment-reversals.ts';
import type { BilledItem } from './subscription-items.ts';
import type { UnpaidTime } from './unpaid-time.ts';

interface ExpirationInput {
  readonly item: BilledItem;
  readonly terms: ItemTerms;
  readonly unpaid: UnpaidTime | undefined;
  readonly mapping: MappingContext;
}

/**
 * Computes the end of access. Stripe starts the next period before its payment, so unpaid time counts with its grace
 * only. While payment collection is paused, the subscription stays active and the customer keeps access. A paused
 * subscription, which Stripe can pause at any time, gives none. A test clock can be ahead: what has ended is over.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause
 * @see https://docs.stripe.com/billing/subscriptions/pause-payment
 */
export function computeExpiration(
  subscription: Subscription,
  { item, terms, unpaid, mapping }: ExpirationInput,
): EpochMillis {
  const { status, ended_at, trial_end, cancel_at, status_details } = subscription;
  const pausedAt = status_details?.paused?.transitioned_at ?? null;
  const [periodStart, periodEnd] = [toMillis(terms.periodStart), toMillis(terms.periodEnd)];
  const pauseStart = status === 'paused' ? (toOptionalMillis(pausedAt) ?? mapping.now) : Number.POSITIVE_INFINITY;
  if (!item.current) return Math.min(periodEnd, toOptionalMillis(ended_at) ?? pauseStart);
  const graceEnd = unpaid ? computeGraceEnd(status, unpaid, mapping) : Number.POSITIVE_INFINITY;
  switch (status) {
    case 'canceled':
    case 'incomplete_expired':
      return Math.min(toOptionalMillis(ended_at) ?? periodStart, graceEnd, mapping.now);
    case 'paused':
      return Math.min(toOptionalMillis(pausedAt ?? trial_end) ?? periodStart, graceEnd, mapping.now);
  }
  const runningEnd = (status === 'trialing' ? toOptionalMillis(trial_end) : undefined) ?? periodEnd;
  return Math.min(unpaid ? graceEnd : runningEnd, toOptionalMillis(cancel_at) ?? Number.POSITIVE_INFINITY);
}

/**
 * Computes the end of the grace. It ends early if Stripe has stopped its attempts to collect the payment, which is
 * known by the last failed one. Stripe does not report when it stopped to wait for the payment of an emailed invoice,
 * or to retry without a charge.
 */
function computeGraceEnd(
  status: string,
  { since, lastFailure = since, isEmailed = false, attempts }: UnpaidTime,
  { graceMs, now }: MappingContext,
): EpochMillis {
  const graceEnd = since + graceMs;
  if (status !== 'unpaid' || isEmailed) return graceEnd;
  if (lastFailure > since) return Math.min(graceEnd, lastFailure);
  return graceEnd <= now && attempts !== 1 ? graceEnd : since;
}

/**
 * Finds the time at which a schedule cancels its subscription. Phases follow each other.
 *
 * @see https://docs.stripe.com/billing/subscriptions/subscription-schedules
 */
export const findScheduledEnd = ({ status, end_behavior, phases }: SubscriptionSchedule): number | null =>
  status === 'active' && end_behavior === 'cancel' ? (phases.at(-1)?.end_date ?? null) : null;

/**
 * Finds the reversal that ends the access: it returns the payment of the current period, or the last one in unpaid
 * time.
 */
export function findReversal(
  billings: readonly Billing[],
  { terms, unpaid }: { readonly terms: ItemTerms; readonly unpaid: UnpaidTime | undefined },
): PaymentReversal | undefined {
  const lastPaid = findCurrentPayment(billings)?.period;
  const start = unpaid ? (lastPaid?.start ?? terms.periodStart) : terms.periodStart;
  const end = findPayment(listPaidTime(billings), start)?.share.reversals?.end;
  // Until the due date of the next invoice, the refund of a period that is over ends nothing.
  const isBeforeDueDate = unpaid && lastPaid && end && end.at >= toMillis(lastPaid.end) && end.at < unpaid.since;
  return isBeforeDueDate ? undefined : end;
}

/**
 * Finds the payment of the period that starts at `start`, in epoch seconds. A period without its own payment is
 * paid by the credit of a former plan: Stripe credits the rest of its period, and keeps in the balance what is left of
 * the credit for later periods. A change that was paid, too, can have paid them.
 *
 * @see https://docs.stripe.com/billing/customer/balance
 * @see https://support.stripe.com/questions/refunding-credit-balance-to-customer-after-subscription-downgrade-or-cancellation
 */
function findPayment(paidTime: readonly PeriodBilling[], start: number): Billing | undefined {
  const last = paidTime.findLast(hasPeriodPrice);
  const current = paidTime.findLast((billing) => hasPeriodPrice(billing) && (billing.line?.period.end ?? 0) > start);
  const line = paidTime.findLast(({ period }) => period.start <= start)?.line;
  if (current || !last || !line || sumTotals([line]) <= 0) return current;
  const sinceLast = paidTime.slice(paidTime.indexOf(last)).map(({ share }) => share);
  const isPaidOtherwise = sinceLast.some(({ amount, reversals }) => amount > 0 && !reversals?.end);
  return !isPaidOtherwise && sinceLast.some(({ lines }) => sumTotals(lines) < 0) ? last : undefined;
}

interface PaidEndContext {
  readonly billings: readonly Billing[];
  /** The end of a trial, which can have ended early or have been extended. */
  readonly trialEnd: number | undefined;
}

/**
 * Returns the end of the time that a billing pays: undefined if it pays none. A period that a credit pays ends when the
 * payment of the credit is refunded. A refund without a date ends the purchase only: each query dates it anew.
 */
export function getPaidEnd(billing: Billing, { billings, trialEnd }: PaidEndContext): EpochMillis | undefined {
  const { kind, period } = billing;
  if (!period || kind === 'late') return undefined;
  const end = toMillis(trialEnd ?? period.end);
  const paidTime = listPaidTime(billings).filter((other) => other.period.start <= period.start);
  const payment = kind === 'period' ? findPayment(paidTime, period.start) : undefined;
  const { end: refund, refundSeenAt } = payment?.share.reversals ?? {};
  if (!refund || refundSeenAt !== undefined || payment === billing) return end;
  return refund.at > toMillis(period.start) ? Math.min(end, refund.at) : undefined;
}
