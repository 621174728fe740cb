import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis, hourMs } from '../../foundation/time.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { toPeriodStart } from '../to-period-start.ts';
import type { KnownPurchase } from './known-purchases.ts';
import type { MappingContext } from './mapping-context.ts';
import { findLine } from './order-lines.ts';
import type { LineItem, Order, Subscription } from './payloads.ts';
import { silentGraceMs } from './subscription-state.ts';

/** A line item with its latest paid order, if Google Play returned the order. */
interface PaidItem {
  readonly subscription: Subscription;
  readonly item: LineItem;
  readonly orderId: string | undefined;
  readonly order: Order | undefined;
  /** Start of an item that replaced another one of the purchase at its renewal. */
  readonly deferredStart: EpochMillis | undefined;
}

type PeriodContext = Pick<MappingContext, 'now' | 'known' | 'paymentNotification'> & { readonly purchase: Purchase };

/**
 * Returns the payment and the period of the latest order. Google Play charges a renewal up to a day before its period,
 * or later after a declined payment. Without the order, a stored period keeps its dates: no payment is dated twice
 * differently, and its end stays the same in a grace period, when the line item ends later.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders#SubscriptionDetails
 */
export function getPaidPeriod(
  { order, ...paid }: PaidItem,
  { purchase, now, ...context }: PeriodContext,
): Pick<Transaction, 'purchaseDate' | 'periodStartDate' | 'expirationDate'> {
  const known = context.known.get(purchase.purchaseId);
  const stored = known?.transactions.find(({ transactionId }) => transactionId === purchase.transactionId);
  const { subscription, item } = paid;
  const details = order && findLine(order, item.productId)?.subscriptionDetails;
  const payment = stored ?? findPayment(paid, { ...context, known, now });
  const purchaseDate = getPaymentDate(order) ?? payment.purchaseDate ?? subscription.startTime ?? now;
  return {
    purchaseDate,
    ...omitUndefined({
      periodStartDate: toPeriodStart(details?.servicePeriodStartTime ?? payment.periodStartDate, purchaseDate),
      expirationDate: details?.servicePeriodEndTime ?? stored?.expirationDate ?? item.expiryTime,
    }),
  };
}

/**
 * Returns the date of payment of an order. An order can be pending for days: the customer pays in cash, or a declined
 * renewal succeeds later.
 * @see https://developer.android.com/google/play/billing/subscriptions#pending
 */
export function getPaymentDate({ createTime, orderHistory }: Partial<Order> = {}): EpochMillis | undefined {
  const processedAt = orderHistory?.processedEvent?.eventTime;
  return processedAt !== undefined && processedAt - (createTime ?? 0) > hourMs ? processedAt : createTime;
}

/** Parses the number at the end of a renewal's order id: `GPA.…..0` is the first renewal. The first order lacks it. */
export function parseRenewalNumber(orderId: string | undefined): number | undefined {
  const digits = /\.\.(\d{1,6})$/.exec(orderId ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

interface StartContext {
  readonly known: KnownPurchase | undefined;
  readonly now: EpochMillis;
  readonly paymentNotification?: MappingContext['paymentNotification'];
}

interface Payment {
  readonly purchaseDate?: EpochMillis | undefined;
  readonly periodStartDate?: EpochMillis | undefined;
}

/**
 * Finds the payment of a period that is not stored yet: at the previous expiration for a renewal without a gap,
 * otherwise at the time of the notification, otherwise at an estimate.
 */
function findPayment(paid: Omit<PaidItem, 'order'>, context: StartContext): Payment {
  const { known, now, paymentNotification } = context;
  if (paid.deferredStart !== undefined && !known) return { purchaseDate: paid.deferredStart };
  if (parseRenewalNumber(paid.orderId) === undefined) return { purchaseDate: paid.subscription.startTime };
  const followsKnown = known !== undefined && isNextOrder(paid.orderId, withoutPlatform(known.purchase.transactionId));
  const notifiedAt = findPaymentTime(context, followsKnown);
  const isGapless = followsKnown && !isSuspended(known.purchase) && !paymentNotification?.isRecovery;
  const previousEnd = isGapless ? findPaidUntil(known) : undefined;
  if (previousEnd === undefined) return { purchaseDate: notifiedAt ?? estimatePeriodStart(paid, context) };
  // A renewal can be charged up to a day before the period ends, and until the end of the grace period.
  const latest = known?.purchase.isBillingRetryPeriod ? Number.POSITIVE_INFINITY : previousEnd;
  return { purchaseDate: Math.min(latest, notifiedAt ?? Math.min(previousEnd, now)), periodStartDate: previousEnd };
}

/**
 * Returns the time of the notification if it is about the latest order. A delayed one can be about an earlier order.
 */
function findPaymentTime({ paymentNotification, now }: StartContext, followsKnown: boolean): EpochMillis | undefined {
  const { occurredAt } = paymentNotification ?? {};
  if (occurredAt === undefined || occurredAt > now) return undefined;
  return followsKnown || now - occurredAt < dayMs ? occurredAt : undefined;
}

/** `GPA.1..0` follows `GPA.1`, and `GPA.1..3` follows `GPA.1..2`. */
export function isNextOrder(orderId = '', previousId: string): boolean {
  const [firstOrderId] = orderId.split('..');
  const [previousFirstId] = previousId.split('..');
  return firstOrderId === previousFirstId && parseRenewalNumber(orderId) === (parseRenewalNumber(previousId) ?? -1) + 1;
}

/** Access ended by a pause or account hold. The next period then starts with the recovery. */
const isSuspended = ({ isPaused, isBillingRetryPeriod, cancelationReason }: Purchase): boolean =>
  isPaused === true || (isBillingRetryPeriod === true && cancelationReason === 'System.BillingError');

/** Returns the end of the paid time. In a grace period, also a silent one, access ends later than the paid period. */
export function findPaidUntil(known: KnownPurchase): EpochMillis | undefined {
  const { expirationDate, isBillingRetryPeriod } = known.purchase;
  return isBillingRetryPeriod || expirationDate === undefined || isInSilentGrace(known)
    ? findPaidEnd(known)
    : expirationDate;
}

/** A query has seen that Google Play retries a declined payment silently. A deferral moves the end by a day or more. */
export function isInSilentGrace(known: KnownPurchase): boolean {
  const { expirationDate = 0, renewalIntent } = known.purchase;
  const extraMs = expirationDate - (findPaidEnd(known) ?? expirationDate);
  return renewalIntent === 'Renew' && extraMs > 0 && extraMs <= silentGraceMs;
}

const findPaidEnd = ({ purchase, transactions }: KnownPurchase): EpochMillis | undefined =>
  transactions.find(({ transactionId }) => transactionId === purchase.transactionId)?.expirationDate;

/**
 * Estimates the start of the current period: with the length of the stored period, otherwise as if all periods had the
 * same length. The result does not depend on the time of the query.
 */
function estimatePeriodStart(
  { subscription: { startTime }, item: { expiryTime }, orderId }: Omit<PaidItem, 'order'>,
  { known, now }: StartContext,
): EpochMillis | undefined {
  if (startTime === undefined || expiryTime === undefined) return startTime;
  const periodCount = (parseRenewalNumber(orderId) ?? -1) + 2;
  const lengthMs = findPeriodLength(known) ?? Math.round((expiryTime - startTime) / periodCount);
  const start = expiryTime - Math.max(0, lengthMs);
  return start <= now && start >= startTime ? start : startTime;
}

function findPeriodLength(known: KnownPurchase | undefined): number | undefined {
  const latest = known?.transactions.find(({ transactionId }) => transactionId === known.purchase.transactionId);
  if (latest?.expirationDate === undefined) return undefined;
  return latest.expirationDate - (latest.periodStartDate ?? latest.purchaseDate);
}

/**
 * Returns the end of the item of the same purchase that an item replaced at a renewal. A deferred change is the only
 * one that adds an item to a purchase.
 * @see https://developer.android.com/google/play/billing/subscriptions#replacement-modes
 */
export function findDeferredStart(
  { lineItems }: Subscription,
  { productId, itemReplacement }: LineItem,
): EpochMillis | undefined {
  const replacedId = itemReplacement?.productId;
  if (replacedId === undefined || replacedId === productId) return undefined;
  return lineItems.find((item) => item.productId === replacedId)?.expiryTime;
}

/** Returns the date of the first order that paid for the product. */
export const findFirstPayment = (productId: string, orders: Iterable<Order>): EpochMillis | undefined => {
  const dates = [...orders].flatMap((order) => (findLine(order, productId) ? (getPaymentDate(order) ?? []) : []));
  return dates.length > 0 ? Math.min(...dates) : undefined;
};
