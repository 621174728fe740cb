import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { unavailableError } from './api-errors.ts';
import { toCancelationReason } from './cancelation-reason.ts';
import { omitNullish, toMillis, toOptionalMillis } from './convert.ts';
import { toInvoiceTransaction } from './invoice-transaction.ts';
import { filterPaidInvoices, findMainLine, type InvoiceShare, isRenewal, splitInvoice } from './invoices.ts';
import {
  getPriceProductId,
  type MappingContext,
  readCheckoutUser,
  readUserAliases,
  requireOwnApp,
  toOfferId,
} from './mapping-context.ts';
import { toCurrencyCode } from './money.ts';
import type { Discount, Invoice, Subscription } from './payloads.ts';
import type { ChargeIndex, PaymentReversal } from './payment-reversals.ts';
import { type BilledItem, getItemId, listBilledItems } from './subscription-items.ts';

interface BillingData extends ChargeIndex {
  readonly context: MappingContext;
  /** Invoices of the subscription, in any order and state. */
  readonly invoices: readonly Invoice[];
  /** Product of the stored purchase with the id of the subscription, without platform prefix. */
  readonly mainProductId?: string | undefined;
}

/** The present terms of an item, or its last ones if it was removed. Times are epoch seconds. */
interface ItemTerms {
  readonly productId: string;
  readonly priceId: string;
  readonly currency: string;
  readonly quantity: number | null;
  readonly createdAt: number | null;
  readonly periodStart: number;
  readonly periodEnd: number;
}

/**
 * Maps a subscription and its invoices to one observation for each item. Throws `InvalidPayload` if the subscription
 * belongs to another app.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function toSubscriptionObservations(
  subscription: Subscription,
  { context, invoices, mainProductId, ...charges }: BillingData,
): Observation[] {
  requireOwnApp(context, subscription.metadata);
  if (subscription.items.data.length === 0) throw unavailableError('The subscription does not have items.');
  const paid = filterPaidInvoices(invoices);
  const items = listBilledItems(subscription, paid, mainProductId);
  const shares = paid.flatMap((invoice) => splitInvoice(invoice, items, charges));
  return items.map((item) => {
    const ownShares = shares.filter((share) => share.item === item);
    return toItemObservation(subscription, item, { context, shares: ownShares });
  });
}

function toItemObservation(
  subscription: Subscription,
  item: BilledItem,
  { context, shares: allShares }: { context: MappingContext; shares: readonly InvoiceShare[] },
): Observation {
  const terms = getTerms(item, allShares);
  const shares = allShares.filter((share) => isWithinPeriod(share, terms));
  const isUnpaid = hasUnpaidPeriod(subscription, item);
  const transactions = shares.map((share) => toInvoiceTransaction(share, subscription, { context, terms }));
  const latest = transactions.at(-1);
  const reversal = findReversal(shares, isUnpaid ? undefined : terms);
  const expirationDate = computeExpiration(subscription, { item, terms, isUnpaid, context });
  return {
    asOf: context.now,
    purchase: {
      ...toIdentity(subscription, item, { terms, context, isInitial: shares.some(isFirstInvoice) }),
      transactionId: latest?.transactionId ?? toFallbackId(subscription, item, context),
      ...toState(subscription, { item, isUnpaid }),
      expirationDate,
      ...omitNullish({
        cancelationReason: item.current
          ? toCancelationReason(subscription, { reversal, isUnpaid, isExpired: expirationDate <= context.now })
          : toRemovalReason(reversal, expirationDate <= context.now),
        endedAt: reversal?.at,
        ...toRenewalIntent(subscription, item, terms),
        lastRenewalDate: findLastRenewalDate(shares, terms),
        ...toDiscount(subscription.discounts, context.now),
      }),
    },
    transactions,
    userAliases: readUserAliases(subscription.metadata),
    ...readCheckoutUser(context, subscription.metadata),
    ...(item.purchaseId !== subscription.id && {
      relatedPurchaseId: withPlatform(context.platform, subscription.id),
    }),
    refreshToken: { id: subscription.id, ...omitNullish({ customer: subscription.customer }) },
  };
}

function getTerms({ current, removedAt }: BilledItem, shares: readonly InvoiceShare[]): ItemTerms {
  if (current) {
    return {
      productId: getPriceProductId(current.price),
      priceId: current.price.id,
      currency: current.price.currency,
      quantity: current.quantity,
      createdAt: current.created,
      periodStart: current.current_period_start,
      periodEnd: current.current_period_end,
    };
  }
  const lines = shares.flatMap((share) => findMainLine(share) ?? []);
  const line = lines.at(-1);
  const { product = '', price = '' } = line?.pricing?.price_details ?? {};
  return {
    productId: product,
    priceId: price,
    currency: shares.at(-1)?.invoice.currency ?? '',
    quantity: line?.quantity ?? null,
    createdAt: lines[0]?.period.start ?? null,
    periodStart: line?.period.start ?? removedAt ?? 0,
    periodEnd: removedAt ?? line?.period.end ?? 0,
  };
}

/**
 * Excludes an invoice of the next period: the subscription and its invoices are fetched concurrently, and a renewal can
 * occur between. The event of the renewal triggers another observation. A period that was billed in advance stays.
 */
function isWithinPeriod(share: InvoiceShare, { periodEnd }: ItemTerms): boolean {
  const line = findMainLine(share, periodEnd);
  return (
    share.item.current === undefined || !line || line.period.start < periodEnd || share.invoice.created < periodEnd
  );
}

const isFirstInvoice = ({ invoice }: InvoiceShare): boolean => invoice.billing_reason === 'subscription_create';

/** Returns the transaction id of a purchase without payments. */
function toFallbackId(
  { id, latest_invoice }: Subscription,
  { purchaseId }: BilledItem,
  { platform }: MappingContext,
): string {
  const invoice = typeof latest_invoice === 'string' ? latest_invoice : latest_invoice?.id;
  return withPlatform(platform, purchaseId === id ? (invoice ?? id) : purchaseId);
}

function toIdentity(
  subscription: Subscription,
  { purchaseId }: BilledItem,
  { terms, context, isInitial }: { terms: ItemTerms; context: MappingContext; isInitial: boolean },
) {
  const { platform } = context;
  const isMain = purchaseId === subscription.id;
  const start = isMain || isInitial ? (subscription.start_date ?? terms.createdAt) : terms.createdAt;
  return {
    purchaseId: withPlatform(platform, purchaseId),
    productId: withPlatform(platform, terms.productId),
    offerId: toOfferId(context, terms.productId, terms.priceId),
    platform,
    productType: 'paid subscription' as const,
    sandbox: !subscription.livemode,
    ...omitNullish({
      purchaseDate: toOptionalMillis(start),
      currency: terms.currency ? toCurrencyCode(terms.currency) : undefined,
      quantity: terms.quantity,
    }),
  };
}

function toState(
  { status }: Subscription,
  { item, isUnpaid }: { item: BilledItem; isUnpaid: boolean },
): Partial<Purchase> {
  return {
    isBillingRetryPeriod: status === 'past_due' && isUnpaid,
    isTrialPeriod: status === 'trialing' && item.current !== undefined,
    ...(status === 'incomplete' && { isPending: true }),
    ...(status === 'incomplete_expired' && { isAbandoned: true }),
    ...(status === 'paused' && { isPaused: true }),
  };
}

/**
 * Whether the present period of an item is not paid. With different intervals, an invoice that bills other items leaves
 * its period paid, although the status is of the whole subscription.
 *
 * @see https://docs.stripe.com/billing/subscriptions/mixed-interval
 */
function hasUnpaidPeriod({ status, latest_invoice: invoice }: Subscription, { current, itemIds }: BilledItem): boolean {
  if (!current || (status !== 'past_due' && status !== 'unpaid')) return false;
  const lines = invoice === null || typeof invoice === 'string' ? [] : invoice.lines.data;
  const billedIds = lines.flatMap((line) => getItemId(line) ?? []);
  return billedIds.length === 0 || billedIds.some((id) => itemIds.includes(id));
}

interface ExpirationInput {
  readonly item: BilledItem;
  readonly terms: ItemTerms;
  readonly isUnpaid: boolean;
  readonly context: MappingContext;
}

/**
 * Computes the end of access. Stripe starts the next period before its payment, so an unpaid period does not count.
 * While payment collection is paused, the subscription stays active and the customer keeps access.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause-payment
 */
function computeExpiration(
  subscription: Subscription,
  { item, terms, isUnpaid, context: { graceMs } }: ExpirationInput,
): EpochMillis {
  const { status, ended_at, trial_end, cancel_at } = subscription;
  const [periodStart, periodEnd] = [toMillis(terms.periodStart), toMillis(terms.periodEnd)];
  if (!item.current) return Math.min(periodEnd, toOptionalMillis(ended_at) ?? Number.POSITIVE_INFINITY);
  switch (status) {
    case 'canceled':
    case 'incomplete_expired':
      return toOptionalMillis(ended_at) ?? periodStart;
    case 'past_due':
    case 'unpaid':
      if (!isUnpaid) break;
      return getUnpaidSince(subscription, periodStart) + (status === 'past_due' ? graceMs : 0);
    case 'paused':
      return toOptionalMillis(trial_end) ?? periodStart;
  }
  return Math.min(
    status === 'trialing' ? (toOptionalMillis(trial_end) ?? periodEnd) : periodEnd,
    toOptionalMillis(cancel_at) ?? Number.POSITIVE_INFINITY,
  );
}

/** Returns the start of the unpaid time: the period, or a plan change within it. */
function getUnpaidSince({ latest_invoice: invoice }: Subscription, periodStart: EpochMillis): EpochMillis {
  const isPlanChange =
    invoice !== null && typeof invoice !== 'string' && invoice.billing_reason === 'subscription_update';
  return isPlanChange ? toMillis(invoice.created) : periodStart;
}

/**
 * Finds the reversal that ends the access. It is that of the latest payment over 0. `terms` restricts it to payments of
 * the present period.
 */
function findReversal(shares: readonly InvoiceShare[], terms: ItemTerms | undefined): PaymentReversal | undefined {
  const periodStart = terms?.periodStart ?? Number.NEGATIVE_INFINITY;
  const payment = shares.findLast(
    (share) => share.amount > 0 && (findMainLine(share)?.period.end ?? Number.POSITIVE_INFINITY) > periodStart,
  );
  return payment?.reversals?.end;
}

/** Returns the reason for the end of an item that was removed. */
const toRemovalReason = (reversal: PaymentReversal | undefined, isExpired: boolean) => {
  if (reversal) return reversal.kind === 'refund' ? 'Customer' : 'System';
  return isExpired ? 'Unknown' : undefined;
};

/** A cancelation after the present period is a later one: until then, the subscription renews. */
function toRenewalIntent(
  subscription: Subscription,
  { current, removedAt }: BilledItem,
  { periodEnd }: ItemTerms,
): { [K in 'renewalIntent' | 'renewalIntentChangeDate']?: Purchase[K] | undefined } {
  const { status, cancel_at, cancel_at_period_end, canceled_at } = subscription;
  if (!current) return { renewalIntent: 'Lapse', renewalIntentChangeDate: toOptionalMillis(removedAt) };
  const isEnding = cancel_at_period_end || (cancel_at !== null && cancel_at <= periodEnd);
  const lapses = isEnding || status === 'canceled' || status === 'incomplete_expired';
  // Stripe does not report when a cancelation was reverted. `observe` takes that date from the event.
  return lapses
    ? { renewalIntent: 'Lapse', renewalIntentChangeDate: toOptionalMillis(canceled_at) }
    : { renewalIntent: 'Renew' };
}

/** Returns the start of the latest renewed period. `shares` are sorted, oldest first. */
function findLastRenewalDate(shares: readonly InvoiceShare[], { periodEnd }: ItemTerms): EpochMillis | undefined {
  const share = shares.findLast(isRenewal);
  return share && toMillis(findMainLine(share, periodEnd)?.period.start ?? share.invoice.created);
}

function toDiscount(discounts: Subscription['discounts'], now: EpochMillis) {
  const [discount] = discounts.filter((value): value is Discount => typeof value !== 'string');
  if (!discount) return {};
  const coupon = discount.source?.coupon ?? null;
  const isRunning = discount.end === null || toMillis(discount.end) > now;
  const isLimited = coupon !== null && typeof coupon !== 'string' && coupon.duration !== 'forever';
  return {
    discountId: discount.promotion_code ?? (typeof coupon === 'string' ? coupon : coupon?.id),
    isIntroPeriod: (isLimited && isRunning) || undefined,
  };
}
