import { dayMs, hourMs } from '../lib/foundation/time.ts';
import type { PurchaseSummary } from './purchase-summary.ts';

/** Days of access after a failed or overdue payment: `graceDays` of the emulator's settings. */
const graceMs = 7 * dayMs;

/** The dates of Stripe are whole seconds, and the service processes a change some time later. */
const toleranceMs = hourMs;

/** A whole period of an item on one invoice. */
interface BilledPeriod {
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly invoice: PurchaseSummary;
  /** Every payment of the invoice was refunded or lost in a dispute. */
  readonly isReturned: boolean;
}

/**
 * An item of a subscription gives access at `now` by the invoices of the emulated account and the rules of
 * docs/stores/stripe.md. `subscription` is the summary with the members of one of its items. Undefined if no rule
 * decides.
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function isStripeItemRunning(subscription: PurchaseSummary, now: number): boolean | undefined {
  const { state, currentPeriodEnd } = subscription;
  if (!['active', 'trialing', 'past_due', 'unpaid'].includes(state)) return false;
  const periods = listPeriods(subscription);
  const isAnyReturned = subscription.payments.some(isReversed);
  const isStoreBehind = toMs(currentPeriodEnd) <= now;
  if (state === 'trialing') return isAnyReturned || isStoreBehind ? undefined : true;
  const present = periods.findLast(({ start, end }) => start <= now && end > now);
  // The emulator renews ahead of the time.
  const isAhead = periods.some(({ start }) => start > now);
  if (isAhead && (isAnyReturned || !present || !isPaid(present))) return undefined;
  if (present && isPaid(present)) return isPaidPeriodRunning(subscription, present, periods);
  if (state === 'active' && (isStoreBehind || !present)) return undefined;
  if (isAnyReturned) return undefined;
  return isUnpaidTimeRunning(periods, { state, now, present });
}

/** Another invoice can change the plan within a paid period. */
function isPaidPeriodRunning(
  { invoices }: PurchaseSummary,
  present: BilledPeriod,
  periods: readonly BilledPeriod[],
): boolean | undefined {
  const changes = invoices.filter(({ lines }: PurchaseSummary) =>
    lines.some((line: PurchaseSummary) => line.isProration && toMs(line.periodEnd) > present.start),
  );
  if (!present.isReturned) return changes.some(({ status }: PurchaseSummary) => status === 'open') ? undefined : true;
  const isOtherwisePaid = periods.some((period) => period !== present && period.end > present.start);
  return changes.length > 0 || isOtherwisePaid ? undefined : false;
}

/**
 * Access to time that is not paid lasts for the grace of the first unpaid invoice, not of each. The status shows the
 * latest invoice: it is active again after a later one is paid, such as one for a fee or a proration, although the
 * invoice of the current period stays unpaid.
 */
function isUnpaidTimeRunning(
  periods: readonly BilledPeriod[],
  { state, now, present }: { readonly state: string; readonly now: number; readonly present: BilledPeriod | undefined },
): boolean | undefined {
  const paidEnds = periods.filter((period) => isPaid(period) && period.end <= now).map(({ end }) => end);
  const paidUntil = paidEnds.length > 0 ? Math.max(...paidEnds) : (periods[0]?.start ?? now);
  const unpaid = periods.filter((period) => !isPaid(period) && period.end > paidUntil);
  const owed = unpaid.filter(({ invoice }) => ['open', 'uncollectible'].includes(invoice.status));
  if (state === 'active' && !(present && isOverdue(present, now))) {
    const isAsked = present?.invoice.status === 'draft' || owed.some((period) => period !== present);
    return isAsked ? undefined : true;
  }
  const first = owed[0];
  // Drafts and void invoices are not requests for a payment. The emulator skips periods before a late renewal.
  if (!first || first !== unpaid[0] || first.start > paidUntil + toleranceMs) return undefined;
  const graceEnd = Math.max(paidUntil, getAskedAt(first)) + graceMs;
  if (now > graceEnd + toleranceMs) return false;
  return state !== 'unpaid' && now < graceEnd - toleranceMs ? true : undefined;
}

/** Stripe has requested the payment of the period without result. A pending debit has not failed. */
function isOverdue(period: BilledPeriod, now: number): boolean {
  const { status, dueDate } = period.invoice;
  if (status === 'uncollectible') return true;
  return status === 'open' && (dueDate !== undefined || listFailures(period).length > 0) && getAskedAt(period) <= now;
}

/** Returns the due date of an emailed invoice, the failure of a debit, or the creation of the invoice. */
function getAskedAt(period: BilledPeriod): number {
  const { dueDate, createdAt } = period.invoice;
  return toMs(dueDate ?? listFailures(period)[0] ?? createdAt);
}

const listFailures = ({ invoice }: BilledPeriod): readonly string[] =>
  invoice.payments.flatMap(({ failedAt }: PurchaseSummary) => failedAt ?? []);

/** Returns the end of the last paid period of the first item, which renews when it changes. */
export function readPaidPeriod(purchase: PurchaseSummary): string | undefined {
  const { endedAt } = purchase;
  const paid = listPeriods({ ...purchase, id: undefined }).filter(
    (period) => isPaid(period) && (endedAt === undefined || toMs(period.invoice.paidAt) <= toMs(endedAt)),
  );
  const last = paid.at(-1);
  return last && new Date(last.end).toISOString();
}

const isPaid = ({ invoice }: BilledPeriod): boolean => invoice.status === 'paid';

/** Lists the periods of an item, by start. The default is the first item. */
function listPeriods({ id, lines: items, invoices, payments }: PurchaseSummary): BilledPeriod[] {
  const itemId = (items.find((item: PurchaseSummary) => item.id === id) ?? items[0]).id;
  const periods: BilledPeriod[] = (invoices ?? []).flatMap((invoice: PurchaseSummary) => {
    const paying = payments.filter(({ invoiceId }: PurchaseSummary) => invoiceId === invoice.id);
    const isReturned = paying.length > 0 && paying.every(isReversed);
    return invoice.lines
      .filter((line: PurchaseSummary) => line.itemId === itemId && !line.isProration)
      .map((line: PurchaseSummary) => ({
        start: toMs(line.periodStart),
        end: toMs(line.periodEnd),
        invoice,
        isReturned,
      }));
  });
  return periods.filter(({ start, end }) => end > start).toSorted((a, b) => a.start - b.start);
}

/** A payment was refunded in full or lost in a dispute. */
function isReversed({ amountMicros, refunds, disputes }: PurchaseSummary): boolean {
  const refunded = refunds.reduce((sum: number, refund: PurchaseSummary) => sum + refund.amountMicros, 0);
  return refunded >= amountMicros || disputes.some(({ status }: PurchaseSummary) => status === 'lost');
}

const toMs = (date: unknown): number => Date.parse(String(date));
