import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { unavailableError } from './api-errors.ts';
import { toCancelationReason } from './cancelation-reason.ts';
import { omitNullish, toMillis, toOptionalMillis } from './convert.ts';
import { filterPaidInvoices, findInvoiceReversals, findLastRenewalDate, toInvoiceTransaction } from './invoices.ts';
import { type MappingContext, readCheckoutUser, readUserAliases, requireOwnApp, toOfferId } from './mapping-context.ts';
import { toCurrencyCode } from './money.ts';
import type { Discount, Invoice, Subscription } from './payloads.ts';
import { getPriceProductId } from './payment-observation.ts';
import type { PaymentReversal, PaymentReversals } from './payment-reversals.ts';

type Item = Subscription['items']['data'][number];

interface BillingData {
  readonly context: MappingContext;
  /** Invoices of the subscription, in any order and state. */
  readonly invoices: readonly Invoice[];
  /** Reversals by charge id and payment intent id. */
  readonly reversals: ReadonlyMap<string, PaymentReversals>;
}

/**
 * Maps a subscription and its invoices. Throws `InvalidPayload` if the subscription belongs to another app.
 *
 * @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
export function toSubscriptionObservation(
  subscription: Subscription,
  { context, invoices, reversals }: BillingData,
): Observation {
  requireOwnApp(context, subscription.metadata);
  const [item] = subscription.items.data;
  if (!item) throw unavailableError('The subscription does not have items.');
  const paid = filterPaidInvoices(invoices).filter((invoice) => isWithinPeriod(invoice, item));
  const latest = paid.at(-1);
  return {
    asOf: context.now,
    purchase: {
      ...toIdentity(subscription, item, { context, latest }),
      ...toState(subscription, item, context),
      ...omitNullish({
        ...toEnd(subscription, latest && findInvoiceReversals(latest, reversals)?.full),
        ...toRenewalIntent(subscription),
        lastRenewalDate: findLastRenewalDate(paid),
        ...toDiscount(subscription.discounts, context.now),
      }),
    },
    transactions: paid.map((invoice) => toInvoiceTransaction(invoice, subscription, { context, reversals })),
    userAliases: readUserAliases(subscription.metadata),
    ...readCheckoutUser(context, subscription.metadata),
    refreshToken: { id: subscription.id, customer: subscription.customer },
  };
}

/**
 * Excludes an invoice of the next period: the subscription and its invoices are fetched concurrently, and a renewal can
 * occur between. The event of the renewal triggers another observation.
 */
const isWithinPeriod = ({ lines }: Invoice, item: Item): boolean =>
  lines.data.every(({ period }) => period.start < item.current_period_end);

function toIdentity(
  subscription: Subscription,
  item: Item,
  { context, latest }: { context: MappingContext; latest: Invoice | undefined },
) {
  const { platform } = context;
  const { latest_invoice } = subscription;
  const invoice = typeof latest_invoice === 'string' ? latest_invoice : latest_invoice?.id;
  return {
    purchaseId: withPlatform(platform, subscription.id),
    transactionId: withPlatform(platform, latest?.id ?? invoice ?? subscription.id),
    productId: withPlatform(platform, getPriceProductId(item.price)),
    offerId: toOfferId(context, getPriceProductId(item.price), item.price.id),
    platform,
    productType: 'paid subscription' as const,
    sandbox: !subscription.livemode,
    purchaseDate: toMillis(subscription.start_date),
    currency: toCurrencyCode(item.price.currency),
    ...omitNullish({ quantity: item.quantity }),
  };
}

function toState(subscription: Subscription, item: Item, context: MappingContext): Partial<Purchase> {
  const { status } = subscription;
  return {
    expirationDate: computeExpiration(subscription, item, context),
    isBillingRetryPeriod: status === 'past_due',
    isTrialPeriod: status === 'trialing',
    ...(status === 'incomplete' && { isPending: true }),
    ...(status === 'incomplete_expired' && { isAbandoned: true }),
    ...(status === 'paused' && { isPaused: true }),
  };
}

/**
 * Computes the end of access. Stripe starts the next period before its payment, so an unpaid period does not count.
 * While payment collection is paused, the subscription stays active and the customer keeps access.
 *
 * @see https://docs.stripe.com/billing/subscriptions/pause-payment
 */
function computeExpiration(subscription: Subscription, item: Item, { graceMs }: MappingContext): EpochMillis {
  const { status, ended_at, trial_end, cancel_at } = subscription;
  const periodEnd = toMillis(item.current_period_end);
  switch (status) {
    case 'canceled':
    case 'incomplete_expired':
      return toOptionalMillis(ended_at) ?? toMillis(item.current_period_start);
    case 'past_due':
      return getUnpaidSince(subscription, item) + graceMs;
    case 'unpaid':
      return getUnpaidSince(subscription, item);
    case 'paused':
      return toOptionalMillis(trial_end) ?? toMillis(item.current_period_start);
    default:
      return Math.min(
        status === 'trialing' ? (toOptionalMillis(trial_end) ?? periodEnd) : periodEnd,
        toOptionalMillis(cancel_at) ?? Number.POSITIVE_INFINITY,
      );
  }
}

/** Returns the start of the unpaid time: the period, or a plan change within it. */
function getUnpaidSince({ latest_invoice: invoice }: Subscription, item: Item): EpochMillis {
  const isPlanChange =
    invoice !== null && typeof invoice !== 'string' && invoice.billing_reason === 'subscription_update';
  return toMillis(isPlanChange ? invoice.created : item.current_period_start);
}

function toRenewalIntent(subscription: Subscription): {
  [K in 'renewalIntent' | 'renewalIntentChangeDate']?: Purchase[K] | undefined;
} {
  const { status, cancel_at, cancel_at_period_end, canceled_at } = subscription;
  const lapses = cancel_at_period_end || cancel_at !== null || status === 'canceled' || status === 'incomplete_expired';
  // Stripe does not report when a cancelation was reverted. `observe` takes that date from the event.
  return lapses
    ? { renewalIntent: 'Lapse', renewalIntentChangeDate: toOptionalMillis(canceled_at) }
    : { renewalIntent: 'Renew' };
}

/** Maps the reason for the end of access, and its time if the payment of the latest period was reversed. */
function toEnd(subscription: Subscription, reversal: PaymentReversal | undefined) {
  return { cancelationReason: toCancelationReason(subscription, reversal), endedAt: reversal?.at };
}

function toDiscount(discounts: Subscription['discounts'], now: EpochMillis) {
  const [discount] = discounts.filter((value): value is Discount => typeof value !== 'string');
  if (!discount) return {};
  const { coupon } = discount.source;
  const isRunning = discount.end === null || toMillis(discount.end) > now;
  const isLimited = coupon !== null && typeof coupon !== 'string' && coupon.duration !== 'forever';
  return {
    discountId: discount.promotion_code ?? (typeof coupon === 'string' ? coupon : coupon?.id),
    isIntroPeriod: (isLimited && isRunning) || undefined,
  };
}
