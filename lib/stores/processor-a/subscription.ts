import { ServiceError } from '../../errors.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Millis, Purchase } from '../../purchases/purchase.ts';
import { cancelationReason } from './cancelation.ts';
import { defined, maybeMillis, millis } from './defined.ts';
import { invoiceTransaction, paidInvoices, productIdOf, takebackOfInvoice } from './invoices.ts';
import { currencyOf } from './money.ts';
import type { Discount, Invoice, Subscription } from './objects.ts';
import { checkApp, type Origin, offerIdOf, usersIn } from './origin.ts';
import type { Takeback } from './takebacks.ts';

type Item = Subscription['items']['data'][number];

interface Paid {
  readonly origin: Origin;
  /** Invoices of the subscription, in any order and state. */
  readonly invoices: readonly Invoice[];
  readonly takebacks: ReadonlyMap<string, Takeback>;
}

/** What the processor says of a subscription. Throws `InvalidPayload` for one of another application. */
export function seenSubscription(subscription: Subscription, { origin, invoices, takebacks }: Paid): Observation {
  checkApp(origin, subscription.metadata);
  const [item] = subscription.items.data;
  if (!item) throw new ServiceError('ConnectionFailed', 'The subscription came without its items.');
  const paid = paidInvoices(invoices).filter((invoice) => isOfPeriod(invoice, item));
  const latest = paid.at(-1);
  return {
    asOf: origin.now,
    purchase: {
      ...identity(subscription, item, { origin, latest }),
      ...state(subscription, item, origin),
      ...defined({
        ...endOf(subscription, latest && takebackOfInvoice(latest, takebacks)),
        ...wishes(subscription),
        ...discounted(subscription.discounts, origin.now),
      }),
    },
    transactions: paid.map((invoice) => invoiceTransaction(invoice, subscription, { origin, takebacks })),
    userTokens: usersIn(subscription.metadata),
    refreshToken: { id: subscription.id, customer: subscription.customer },
  };
}

/**
 * Subscription and invoices are read one beside the other; when a renewal comes between, an invoice is already of the next
 * period. The look then shows the state before it, and the event that tells of it leads to another.
 */
const isOfPeriod = ({ lines }: Invoice, item: Item): boolean =>
  lines.data.every(({ period }) => period.start < item.current_period_end);

function identity(
  subscription: Subscription,
  item: Item,
  { origin, latest }: { origin: Origin; latest: Invoice | undefined },
) {
  const { platform } = origin;
  const { latest_invoice } = subscription;
  const invoice = typeof latest_invoice === 'string' ? latest_invoice : latest_invoice?.id;
  return {
    purchaseId: prefixed(platform, subscription.id),
    transactionId: prefixed(platform, latest?.id ?? invoice ?? subscription.id),
    productId: prefixed(platform, productIdOf(item)),
    offerId: offerIdOf(origin, productIdOf(item), item.price.id),
    platform,
    productType: 'paid subscription' as const,
    sandbox: !subscription.livemode,
    purchaseDate: millis(subscription.start_date),
    currency: currencyOf(item.price.currency),
    ...defined({ quantity: item.quantity }),
  };
}

function state(subscription: Subscription, item: Item, origin: Origin): Partial<Purchase> {
  const { status, start_date } = subscription;
  const isPaused = status === 'paused' || subscription.pause_collection !== null;
  const renewed = item.current_period_start > start_date;
  return {
    expirationDate: expirationOf(subscription, item, origin),
    isBillingRetryPeriod: status === 'past_due',
    isTrialPeriod: status === 'trialing',
    ...(renewed && { lastRenewalDate: millis(item.current_period_start) }),
    ...(status === 'incomplete' && { isPending: true }),
    ...(status === 'incomplete_expired' && { isAbandoned: true }),
    ...(isPaused && {
      isPaused,
      ...defined({ autoResumeDate: maybeMillis(subscription.pause_collection?.resumes_at) }),
    }),
  };
}

/** Until when there is access. The processor moves the period on before it is paid for, so an unpaid one counts nothing. */
function expirationOf(subscription: Subscription, item: Item, { graceMs }: Origin): Millis {
  const { status, ended_at, trial_end, cancel_at } = subscription;
  const periodEnd = millis(item.current_period_end);
  switch (status) {
    case 'canceled':
    case 'incomplete_expired':
      return maybeMillis(ended_at) ?? millis(item.current_period_start);
    case 'past_due':
      return unpaidSince(subscription, item) + graceMs;
    case 'unpaid':
      return unpaidSince(subscription, item);
    case 'paused':
      return maybeMillis(trial_end) ?? millis(item.current_period_start);
    default:
      // While the collection is paused there is no date of its start; the period's is past, as a pause must show.
      if (subscription.pause_collection !== null) return millis(item.current_period_start);
      return Math.min(
        status === 'trialing' ? (maybeMillis(trial_end) ?? periodEnd) : periodEnd,
        maybeMillis(cancel_at) ?? Number.POSITIVE_INFINITY,
      );
  }
}

/** The start of what is not paid for: the period, or the change of plan in its middle. */
function unpaidSince({ latest_invoice: invoice }: Subscription, item: Item): Millis {
  const isChange = invoice !== null && typeof invoice !== 'string' && invoice.billing_reason === 'subscription_update';
  return millis(isChange ? invoice.created : item.current_period_start);
}

function wishes(subscription: Subscription): {
  [K in 'renewalIntent' | 'renewalIntentChangeDate']?: Purchase[K] | undefined;
} {
  const { status, cancel_at, cancel_at_period_end, canceled_at } = subscription;
  const lapses = cancel_at_period_end || cancel_at !== null || status === 'canceled' || status === 'incomplete_expired';
  return { renewalIntent: lapses ? 'Lapse' : 'Renew', renewalIntentChangeDate: maybeMillis(canceled_at) };
}

/** Why access ended, and when if the money of the latest period went back. */
function endOf(subscription: Subscription, takeback: Takeback | undefined) {
  return { cancelationReason: cancelationReason(subscription, takeback), endedAt: takeback?.at };
}

function discounted(discounts: Subscription['discounts'], now: Millis) {
  const [discount] = discounts.filter((one): one is Discount => typeof one !== 'string');
  if (!discount) return {};
  const { coupon } = discount.source;
  const isRunning = discount.end === null || millis(discount.end) > now;
  const isLimited = coupon !== null && typeof coupon !== 'string' && coupon.duration !== 'forever';
  return {
    discountId: discount.promotion_code ?? (typeof coupon === 'string' ? coupon : coupon?.id),
    isIntroPeriod: (isLimited && isRunning) || undefined,
  };
}
