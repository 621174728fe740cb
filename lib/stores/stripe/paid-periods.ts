/**
 * Which payments pay which period of which item: the rule that refunds, the end of access, grace, renewals, revenue and
 * trials follow from. Never the latest object decides, but the payment of the period.
 *
 * Each item of a subscription has its part of each invoice (`InvoiceShare`). Its lines decide what the part pays:
 *
 * - `period`: a line of the item that is not a proration. It pays a whole period, also with the amount 0 (a trial, a
 *   coupon, a credit). A line that ends when it is billed, such as metered usage, is paid in arrears: its payment
 *   renews the period that starts then.
 * - `change`: prorations only, such as for added seats or for a plan change. It pays a part of a period that
 *   another invoice pays as a whole, and nothing while that invoice is unpaid. Without that invoice, the charge for
 *   the rest of a period is its `period`: the first payment of an item that was added, or of a moved billing date.
 * - `extra`: anything else, such as a fee, a manual invoice, a usage threshold, or a period that a later payment
 *   replaces in the second in which it starts. It is money, and pays no period.
 * - `late`: the period of an invoice that was paid after the subscription had ended. It is money, and renews nothing.
 *
 * The payments in order of their periods, not of their dates, are the paid time. Its last period is the current one.
 *
 * - **Refund.** Access ends when all payments of the invoice of the current period were returned. The refund of a
 *   `change` or an `extra` is money only.
 * - **Renewal.** A paid `period` of a cycle. An open, void or uncollectible invoice does not renew.
 * - **Unpaid time.** Starts at the end of the paid time: see `findUnpaidTime`.
 *
 * @see https://docs.stripe.com/billing/invoices/subscription
 * @see https://docs.stripe.com/billing/subscriptions/prorations
 */
import { sum } from '../../foundation/collections.ts';
import { hourMs, secondMs } from '../../foundation/time.ts';
import { getPaidAt, type InvoiceShare, isPaid, sumTotals } from './invoices.ts';
import type { Subscription } from './payloads.ts';
import { getItemId, getPriceId, isCredit, type Line } from './subscription-items.ts';

/** Epoch seconds. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** What the part of an invoice that bills an item pays, or would pay. */
export interface Billing {
  readonly share: InvoiceShare;
  readonly kind: 'period' | 'change' | 'extra' | 'late';
  /** The line that names the price. */
  readonly line: Line | undefined;
  /** Undefined for `extra`. */
  readonly period: Period | undefined;
}

export interface PeriodBilling extends Billing {
  readonly period: Period;
}

interface ItemPeriod {
  readonly periodStart: number;
  readonly periodEnd: number;
}

/** Classifies the parts of all invoices that bill an item, oldest first. */
export function listBillings(
  shares: readonly InvoiceShare[],
  subscription: Subscription,
  currentPeriod: ItemPeriod,
): Billing[] {
  const { ended_at: endedAt } = subscription;
  const started = shares.flatMap((share) => findPeriodLine(share, currentPeriod.periodEnd)?.period ?? []);
  const known = [...started, { start: currentPeriod.periodStart, end: currentPeriod.periodEnd }];
  const billings = shares.map((share): Billing => {
    const periodLine = findPeriodLine(share, currentPeriod.periodEnd);
    const line = periodLine ?? findChangeLine(share);
    if (!line) return { share, kind: 'extra', line: share.lines.at(-1), period: undefined };
    const isInArrears = periodLine !== undefined && isRenewalInvoice(share) && line.period.end <= share.invoice.created;
    if (isInArrears && endedAt !== null && line.period.end >= endedAt) {
      return { share, kind: 'extra', line, period: undefined };
    }
    const period = isInArrears ? toNextPeriod(line.period, known) : line.period;
    const isLate = share.amount > 0 && isPaidAfter(endedAt, share.invoice, line.period);
    return { share, kind: isLate ? 'late' : periodLine ? 'period' : 'change', line, period };
  });
  return replaceAtOnce(billings.reduce<Billing[]>((before, billing) => addBilling(before, billing, subscription), []));
}

/**
 * Adds a billing to those before it. Stripe prorates the first payment of an item that starts within a period or after
 * a trial that ended early, without a credit for a former plan.
 * @see https://docs.stripe.com/billing/subscriptions/billing-cycle
 */
function addBilling(before: readonly Billing[], billing: Billing, subscription: Subscription): Billing[] {
  const { kind, share, period } = billing;
  const isFirst =
    kind === 'change' &&
    period &&
    !share.lines.some(isCredit) &&
    !findAround(
      before.filter(hasPeriod).filter((other) => !isTrialBefore(other, period.start, subscription)),
      period,
    );
  return [...before, isFirst ? { ...billing, kind: 'period' } : billing];
}

/** The free period of the latest trial, which can have ended before the end of its line. */
const isTrialBefore = (
  { line, period }: PeriodBilling,
  time: number,
  { trial_start, trial_end }: Subscription,
): boolean =>
  line?.amount === 0 &&
  trial_start !== null &&
  trial_end !== null &&
  period.start >= trial_start - maxGap &&
  period.start < trial_end &&
  trial_end <= time;

/**
 * Leaves one payment for each start: a change to another interval in the second of a renewal credits all of the renewed
 * period.
 */
function replaceAtOnce(billings: readonly Billing[]): Billing[] {
  const isPaidPeriod = ({ kind, share }: Billing) => kind === 'period' && isPaid(share.invoice);
  const last = new Map(billings.filter(isPaidPeriod).map((billing) => [billing.period?.start, billing]));
  return billings.map((billing) => {
    const start = billing.period?.start;
    const next = isPaidPeriod(billing) ? last.get(start) : undefined;
    const isCredited =
      next !== billing && next?.share.lines.some((line) => isCredit(line) && line.period.start === start);
    return isCredited ? { ...billing, kind: 'extra', period: undefined } : billing;
  });
}

/** The payment of a period that was billed ahead has the date of its start, although the subscription ended before. */
function isPaidAfter(endedAt: number | null, invoice: InvoiceShare['invoice'], { start }: Period): boolean {
  const paidAt = getPaidAt(invoice);
  return endedAt !== null && paidAt > endedAt && (start < endedAt || paidAt < start);
}

/** Returns the period after one that is paid in arrears. Estimates its length as long as it is not known. */
function toNextPeriod({ start, end }: Period, known: readonly Period[]): Period {
  const next = known.find((period) => period.start === end);
  return { start: end, end: next?.end ?? end + (end - start) };
}

/** Finds the line of a whole period. A line of a period after `periodEnd`, in epoch seconds, was billed in advance. */
function findPeriodLine(share: InvoiceShare, periodEnd: number): Line | undefined {
  if (share.invoice.billing_reason === 'subscription_threshold') return undefined;
  const lines = listItemLines(share).filter((line) => !isProration(line) && line.period.end > line.period.start);
  const started = lines.filter(({ period }) => period.start < periodEnd);
  const latest = findLatest(started.length > 0 ? started : lines);
  return latest && mergeTiers(lines.filter((line) => isSamePrice(line, latest)));
}

/**
 * A graduated price has a line for each tier, also for a free one.
 * @see https://docs.stripe.com/billing/subscriptions/usage-based/recurring-tiers
 */
function mergeTiers([line, ...others]: readonly Line[]): Line | undefined {
  if (!line || others.length === 0) return line;
  const tiers = [line, ...others];
  return {
    ...line,
    amount: sum(tiers.map(({ amount }) => amount)),
    quantity: sum(tiers.map(({ quantity }) => quantity ?? 0)),
    discount_amounts: tiers.flatMap((tier) => tier.discount_amounts),
    pretax_credit_amounts: tiers.flatMap((tier) => tier.pretax_credit_amounts),
    taxes: tiers.flatMap(({ taxes }) => taxes),
  };
}

const isSamePrice = (line: Line, other: Line): boolean =>
  getPriceId(line) === getPriceId(other) &&
  line.period.start === other.period.start &&
  line.period.end === other.period.end;

/** Finds the charge of the last plan in a part that has prorations only. */
function findChangeLine(share: InvoiceShare): Line | undefined {
  const lines = share.lines.filter((line) => isProration(line) && line.period.end > line.period.start);
  return findLatest(lines.filter((line) => !isCredit(line))) ?? findLatest(lines);
}

const findLatest = (lines: readonly Line[]): Line | undefined =>
  [...lines].sort((a, b) => a.period.start - b.period.start || a.period.end - b.period.end).at(-1);

/** Lists the lines of the item's price. Lines of invoice items, such as fees, are not among them. */
export const listItemLines = ({ lines, item }: InvoiceShare): Line[] =>
  lines.filter((line) => {
    const itemId = getItemId(line);
    const isItemLine = (line.parent?.subscription_item_details ?? null) !== null;
    return isItemLine && (itemId === undefined || item.itemIds.includes(itemId));
  });

export const isProration = ({ parent }: Line): boolean =>
  (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration === true;

const isRenewalInvoice = ({ invoice }: InvoiceShare): boolean => invoice.billing_reason === 'subscription_cycle';

/** The invoice of a plan change does not renew an item. */
export const isRenewal = ({ kind, share }: Billing): boolean => kind === 'period' && isRenewalInvoice(share);

/** The billing pays, or would pay, time of the item while the subscription runs. */
const paysTime = (billing: Billing): billing is PeriodBilling =>
  (billing.kind === 'period' || billing.kind === 'change') && billing.period !== undefined;

/** Lists the paid billings in order of their periods. */
export const listPaidTime = (billings: readonly Billing[]): PeriodBilling[] =>
  sortByPeriod(
    billings
      .filter(paysTime)
      .filter((billing) => isPaid(billing.share.invoice) && !isChangeOfUnpaidPeriod(billing, billings)),
  );

/**
 * Stripe credits the unused time of the former plan even if it is unpaid, so a change within an unpaid period can be
 * free. A change to another interval, which is a period, replaces an unpaid one.
 * @see https://docs.stripe.com/billing/subscriptions/prorations
 */
function isChangeOfUnpaidPeriod({ kind, period: change }: PeriodBilling, billings: readonly Billing[]): boolean {
  const changed = findAround(billings.filter(hasPeriod), change);
  const status = changed?.share.invoice.status;
  return kind === 'change' && (changed?.kind === 'late' || status === 'open' || status === 'uncollectible');
}

/** Finds the billing of the period in which a change starts. */
const findAround = (billings: readonly PeriodBilling[], { start }: Period): PeriodBilling | undefined =>
  sortByPeriod(billings).findLast(({ kind, period }) => isWhole(kind) && period.start <= start && start < period.end);

const hasPeriod = (billing: Billing): billing is PeriodBilling => billing.period !== undefined;

/** The billing is, or would have been, for a whole period. */
const isWhole = (kind: Billing['kind']): boolean => kind === 'period' || kind === 'late';

/** Lists the billings whose period was not paid while the subscription ran, in order of their periods. */
export const listUnpaidTime = (billings: readonly Billing[]): PeriodBilling[] =>
  sortByPeriod(
    billings
      .filter(hasPeriod)
      .filter((billing) => billing.kind === 'late' || (paysTime(billing) && !isPaid(billing.share.invoice))),
  );

const sortByPeriod = (billings: readonly PeriodBilling[]): PeriodBilling[] =>
  [...billings].sort((a, b) => a.period.start - b.period.start);

/** Finds the payment of the current period: a returned `change` leaves the period to the payment before it. */
export const findCurrentPayment = (billings: readonly Billing[]): PeriodBilling | undefined =>
  listPaidTime(billings).findLast(({ kind, share }) => kind === 'period' || share.reversals?.refundedAt === undefined);

/** A fee on the invoice of a free period pays something else. */
export const hasPeriodPrice = ({ kind, line, share }: Billing): boolean =>
  kind === 'period' && share.amount > 0 && line !== undefined && sumTotals([line]) > 0;

/** Stripe renews up to an hour after the end of a period. In seconds. */
export const maxGap = hourMs / secondMs;
