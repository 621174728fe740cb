import { withPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import { computeExpiration, findReversal } from './access-end.ts';
import { unavailableError } from './api-errors.ts';
import { toCancelationReason } from './cancelation-reason.ts';
import { toInvoiceTransaction, toInvoiceTransactionId } from './invoice-transaction.ts';
import { type InvoiceShare, isPaid, sortInvoices, splitInvoice } from './invoices.ts';
import { toDiscount, toIdentity, toRenewalIntent, toState } from './item-fields.ts';
import { getTerms, type ItemTerms } from './item-terms.ts';
import { type MappingContext, readCheckoutUser, readUserAliases, requireOwnApp } from './mapping-context.ts';
import { omitNullish, toOptionalMillis } from './money.ts';
import { type Billing, findCurrentPayment, isRenewal, listBillings, listPaidTime } from './paid-periods.ts';
import type { Invoice, Subscription } from './payloads.ts';
import type { ChargeIndex } from './payment-reversals.ts';
import { type BilledItem, getItemId, listBilledItems } from './subscription-items.ts';
import { findTrialOffer, withItemTrial } from './trials.ts';
import { findUnpaidTime } from './unpaid-time.ts';

interface BillingData extends ChargeIndex {
  readonly mapping: MappingContext;
  /** Invoices of the subscription, in any order and state. */
  readonly invoices: readonly Invoice[];
  /** Product of the stored purchase with the id of the subscription, without platform prefix. */
  readonly mainProductId?: string | undefined;
}

/**
 * Maps a subscription and its invoices to one observation for each item. Throws `InvalidPayload` if the subscription
 * belongs to another app.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function toSubscriptionObservations(
  subscription: Subscription,
  { mapping, invoices, mainProductId, ...charges }: BillingData,
): Observation[] {
  requireOwnApp(mapping, subscription.metadata);
  if (subscription.items.data.length === 0) throw unavailableError('The subscription does not have items.');
  const all = listKnownInvoices(subscription, invoices);
  const items = listBilledItems(subscription, all.filter(isPaid), mainProductId);
  const shares = all.flatMap((invoice) => splitInvoice(invoice, items, { ...charges, now: mapping.now }));
  const startedAt = getStart(subscription, all);
  return items.map((item) => toItemObservation(subscription, item, { mapping, shares, startedAt }));
}

/** Lists the invoices, oldest first, with the latest one: it can be newer than the list. */
function listKnownInvoices({ latest_invoice: latest }: Subscription, invoices: readonly Invoice[]): Invoice[] {
  const isNew = latest !== null && typeof latest !== 'string' && !invoices.some(({ id }) => id === latest.id);
  return sortInvoices(isNew ? [latest, ...invoices] : invoices);
}

/**
 * Returns the start in epoch seconds. A subscription that another system billed before can be backdated: it exists
 * since its first invoice.
 *
 * @see https://docs.stripe.com/billing/subscriptions/backdating
 */
function getStart({ start_date, created }: Subscription, invoices: readonly Invoice[]): number | null {
  const first = invoices.find(({ billing_reason }) => billing_reason === 'subscription_create');
  const createdAt = created ?? first?.created ?? start_date;
  return start_date === null ? createdAt : Math.max(start_date, createdAt ?? start_date);
}

interface ItemContext {
  readonly mapping: MappingContext;
  /** Parts of all invoices of the subscription, oldest first. */
  readonly shares: readonly InvoiceShare[];
  /** Epoch seconds. */
  readonly startedAt: number | null;
}

function toItemObservation(
  wholeSubscription: Subscription,
  item: BilledItem,
  { mapping, shares, startedAt }: ItemContext,
): Observation {
  const allShares = shares.filter((share) => share.item === item);
  const offer = findTrialOffer(item, allShares);
  const subscription = withItemTrial(wholeSubscription, offer);
  const terms = getTerms(item, allShares, subscription);
  const billings = listBillings(
    allShares.filter((share) => isWithinPeriod(share, terms)),
    subscription,
    terms,
  );
  const unpaid =
    item.current && findUnpaidTime(billings, toUnpaidContext(item, { subscription, terms, shares, mapping }));
  const isUnpaid = unpaid !== undefined;
  const reversal = findReversal(billings, { terms, unpaid });
  const expirationDate = computeExpiration(subscription, { item, terms, unpaid, mapping });
  const isExpired = expirationDate <= mapping.now;
  const cancelationReason = toCancelationReason(subscription, {
    reversal,
    isRemoved: item.current === undefined,
    isUnpaid,
    isExpired,
  });
  const start = isInitial(item, billings, subscription) ? (startedAt ?? terms.createdAt) : terms.createdAt;
  const transactions = billings
    .map(withoutUnpaidPeriod)
    .filter(({ share }) => isPaid(share.invoice) || share.amount > 0)
    .map((billing) => toInvoiceTransaction(billing, subscription, { mapping, terms, billings, startedAt, offer }));
  return {
    asOf: mapping.now,
    purchase: {
      ...toIdentity(item, { subscription, terms, mapping, start }),
      transactionId: toTransactionId(subscription, item, { billings, mapping }),
      ...toState(subscription, { item, isUnpaid }),
      // A reversal or a removed item has ended the purchase, whatever the state of its subscription.
      ...(cancelationReason === 'PAUSED' && { isPaused: true }),
      expirationDate,
      ...omitNullish({
        cancelationReason,
        endedAt: reversal?.at,
        ...toRenewalIntent(subscription, item, terms),
        lastRenewalDate: toOptionalMillis(listPaidTime(billings).findLast(isRenewal)?.period.start),
        ...toDiscount(subscription, item, mapping.now),
        ...(offer?.isRunning && !offer.isFree && { isIntroPeriod: true }),
      }),
    },
    transactions,
    userAliases: readUserAliases(subscription.metadata),
    ...readCheckoutUser(mapping, subscription.metadata),
    ...(item.purchaseId !== subscription.id && {
      relatedPurchaseId: withPlatform(mapping.platform, subscription.id),
    }),
    refreshToken: { id: subscription.id, ...omitNullish({ customer: subscription.customer }) },
  };
}

/** What the customer paid of an invoice, but not all of it, is money that pays no period. */
const withoutUnpaidPeriod = (billing: Billing): Billing =>
  isPaid(billing.share.invoice) ? billing : { ...billing, kind: 'extra', period: undefined };

/**
 * Excludes an invoice of the next period: the subscription and its invoices are fetched concurrently, and a renewal can
 * occur between. The event of the renewal triggers another observation. A period that was billed in advance stays, and
 * a fee, which bills no item.
 */
function isWithinPeriod({ item, lines, invoice }: InvoiceShare, { periodEnd }: ItemTerms): boolean {
  return (
    item.current === undefined ||
    lines.every((line) => getItemId(line) === undefined) ||
    invoice.created < periodEnd ||
    lines.some(({ period }) => period.start < periodEnd)
  );
}

const isInitial = ({ purchaseId }: BilledItem, billings: readonly Billing[], { id }: Subscription): boolean =>
  purchaseId === id ||
  billings.some(({ share }) => isPaid(share.invoice) && share.invoice.billing_reason === 'subscription_create');

function toUnpaidContext(
  item: BilledItem,
  {
    shares,
    subscription,
    terms,
    mapping: { now },
  }: {
    readonly shares: readonly InvoiceShare[];
    readonly subscription: Subscription;
    readonly terms: ItemTerms;
    readonly mapping: MappingContext;
  },
) {
  const unpaid = shares.filter(({ invoice }) => !isPaid(invoice));
  const areOthersUnpaid = unpaid.length > 0 && !unpaid.some((share) => share.item === item);
  return { subscription, terms, areOthersUnpaid, now };
}

/** Returns the id of the payment of the current period, or of the invoice that is to pay the first one. */
function toTransactionId(
  { id, latest_invoice }: Subscription,
  item: BilledItem,
  { billings, mapping: { platform } }: { billings: readonly Billing[]; mapping: MappingContext },
): string {
  const isMain = item.purchaseId === id;
  const payment = findCurrentPayment(billings);
  if (payment) return toInvoiceTransactionId(payment.share, { platform, isMain });
  const latestId = typeof latest_invoice === 'string' ? latest_invoice : latest_invoice?.id;
  const first = billings.find(({ period }) => period !== undefined)?.share.invoice.id;
  return withPlatform(platform, isMain ? (first ?? latestId ?? id) : item.purchaseId);
}
