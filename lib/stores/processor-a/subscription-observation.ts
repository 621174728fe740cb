import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { toCancelationReason } from './cancelation-reason.ts';
import { omitNullish, toMillis, toOptionalMillis } from './convert.ts';
import { filterPaidInvoices, findInvoiceReversal, getProductId, toInvoiceTransaction } from './invoices.ts';
import { type MappingContext, readUserAliases, requireOwnApp, toOfferId } from './mapping-context.ts';
import { toCurrencyCode } from './money.ts';
import type { Discount, Invoice, Subscription } from './payloads.ts';
import type { PaymentReversal } from './payment-reversals.ts';

type Item = Subscription['items']['data'][number];

interface BillingData {
  readonly origin: MappingContext;
  /** Invoices of the subscription, in any order and state. */
  readonly invoices: readonly Invoice[];
  readonly takebacks: ReadonlyMap<string, PaymentReversal>;
}

/** What the processor says of a subscription. Throws `InvalidPayload` for one of another application. */
export function toSubscriptionObservation(
  subscription: Subscription,
  { origin: context, invoices, takebacks }: BillingData,
): Observation {
  requireOwnApp(context, subscription.metadata);
  const [item] = subscription.items.data;
  if (!item) throw new ServiceError('ConnectionFailed', 'The subscription came without its items.');
  const paid = filterPaidInvoices(invoices).filter((invoice) => isWithinPeriod(invoice, item));
  const latest = paid.at(-1);
  return {
    asOf: context.now,
    purchase: {
      ...toIdentity(subscription, item, { origin: context, latest }),
      ...toState(subscription, item, context),
      ...omitNullish({
        ...toEnd(subscription, latest && findInvoiceReversal(latest, takebacks)),
        ...toRenewalIntent(subscription),
        ...toDiscount(subscription.discounts, context.now),
      }),
    },
    transactions: paid.map((invoice) => toInvoiceTransaction(invoice, subscription, { origin: context, takebacks })),
    userAliases: readUserAliases(subscription.metadata),
    refreshToken: { id: subscription.id, customer: subscription.customer },
  };
}

/**
 * Subscription and invoices are read one beside the other; when a renewal comes between, an invoice is already of the next
 * period. The look then shows the state before it, and the event that tells of it leads to another.
 */
const isWithinPeriod = ({ lines }: Invoice, item: Item): boolean =>
  lines.data.every(({ period }) => period.start < item.current_period_end);

function toIdentity(
  subscription: Subscription,
  item: Item,
  { origin: context, latest }: { origin: MappingContext; latest: Invoice | undefined },
) {
  const { platform } = context;
  const { latest_invoice } = subscription;
  const invoice = typeof latest_invoice === 'string' ? latest_invoice : latest_invoice?.id;
  return {
    purchaseId: withPlatform(platform, subscription.id),
    transactionId: withPlatform(platform, latest?.id ?? invoice ?? subscription.id),
    productId: withPlatform(platform, getProductId(item)),
    offerId: toOfferId(context, getProductId(item), item.price.id),
    platform,
    productType: 'paid subscription' as const,
    sandbox: !subscription.livemode,
    purchaseDate: toMillis(subscription.start_date),
    currency: toCurrencyCode(item.price.currency),
    ...omitNullish({ quantity: item.quantity }),
  };
}

function toState(subscription: Subscription, item: Item, context: MappingContext): Partial<Purchase> {
  const { status, start_date } = subscription;
  const isPaused = status === 'paused' || subscription.pause_collection !== null;
  const renewed = item.current_period_start > start_date;
  return {
    expirationDate: computeExpiration(subscription, item, context),
    isBillingRetryPeriod: status === 'past_due',
    isTrialPeriod: status === 'trialing',
    ...(renewed && { lastRenewalDate: toMillis(item.current_period_start) }),
    ...(status === 'incomplete' && { isPending: true }),
    ...(status === 'incomplete_expired' && { isAbandoned: true }),
    ...(isPaused && {
      isPaused,
      ...omitNullish({ autoResumeDate: toOptionalMillis(subscription.pause_collection?.resumes_at) }),
    }),
  };
}

/** Until when there is access. The processor moves the period on before it is paid for, so an unpaid one counts nothing. */
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
      // While the collection is paused there is no date of its start; the period's is past, as a pause must show.
      if (subscription.pause_collection !== null) return toMillis(item.current_period_start);
      return Math.min(
        status === 'trialing' ? (toOptionalMillis(trial_end) ?? periodEnd) : periodEnd,
        toOptionalMillis(cancel_at) ?? Number.POSITIVE_INFINITY,
      );
  }
}

/** The start of what is not paid for: the period, or the change of plan in its middle. */
function getUnpaidSince({ latest_invoice: invoice }: Subscription, item: Item): EpochMillis {
  const isChange = invoice !== null && typeof invoice !== 'string' && invoice.billing_reason === 'subscription_update';
  return toMillis(isChange ? invoice.created : item.current_period_start);
}

function toRenewalIntent(subscription: Subscription): {
  [K in 'renewalIntent' | 'renewalIntentChangeDate']?: Purchase[K] | undefined;
} {
  const { status, cancel_at, cancel_at_period_end, canceled_at } = subscription;
  const lapses = cancel_at_period_end || cancel_at !== null || status === 'canceled' || status === 'incomplete_expired';
  return { renewalIntent: lapses ? 'Lapse' : 'Renew', renewalIntentChangeDate: toOptionalMillis(canceled_at) };
}

/** Why access ended, and when if the money of the latest period went back. */
function toEnd(subscription: Subscription, takeback: PaymentReversal | undefined) {
  return { cancelationReason: toCancelationReason(subscription, takeback), endedAt: takeback?.at };
}

function toDiscount(discounts: Subscription['discounts'], now: EpochMillis) {
  const [discount] = discounts.filter((one): one is Discount => typeof one !== 'string');
  if (!discount) return {};
  const { coupon } = discount.source;
  const isRunning = discount.end === null || toMillis(discount.end) > now;
  const isLimited = coupon !== null && typeof coupon !== 'string' && coupon.duration !== 'forever';
  return {
    discountId: discount.promotion_code ?? (typeof coupon === 'string' ? coupon : coupon?.id),
    isIntroPeriod: (isLimited && isRunning) || undefined,
  };
}
