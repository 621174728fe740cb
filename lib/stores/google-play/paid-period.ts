import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import { dayMs, type EpochMillis } from '../../shared/time.ts';
import type { KnownPurchase } from './known-purchases.ts';
import type { MappingContext } from './mapping-context.ts';
import type { LineItem, Order, Subscription } from './payloads.ts';

/** A line item with its latest paid order, if Google Play returned the order. */
interface PaidItem {
  readonly subscription: Subscription;
  readonly item: LineItem;
  readonly orderId: string | undefined;
  readonly order: Order | undefined;
}

type PeriodContext = Pick<MappingContext, 'now' | 'known' | 'paymentNotification'> & { readonly purchase: Purchase };

/**
 * Returns the period that the latest order paid for. Without the order, a stored period keeps its dates: no payment is
 * dated twice differently, and its end stays the same in a grace period, when the line item ends later.
 */
export function getPaidPeriod(
  { order, ...paid }: PaidItem,
  { purchase, now, ...context }: PeriodContext,
): Pick<Transaction, 'purchaseDate' | 'expirationDate'> {
  const known = context.known.get(purchase.purchaseId);
  const stored = known?.transactions.find(({ transactionId }) => transactionId === purchase.transactionId);
  const { subscription, item } = paid;
  const start = order?.createTime ?? stored?.purchaseDate ?? findPeriodStart(paid, { ...context, known, now });
  return {
    purchaseDate: start ?? subscription.startTime ?? now,
    ...omitUndefined({ expirationDate: getPeriodEnd(order, item) ?? stored?.expirationDate ?? item.expiryTime }),
  };
}

const getPeriodEnd = (order: Order | undefined, { productId }: LineItem): EpochMillis | undefined =>
  order?.lineItems.find((item) => item.productId === productId)?.subscriptionDetails?.servicePeriodEndTime;

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

/**
 * Finds the start of a period that is not stored yet: the previous expiration for a renewal without a gap, otherwise
 * the time of the notification, otherwise an estimate.
 */
function findPeriodStart(paid: Omit<PaidItem, 'order'>, context: StartContext): EpochMillis | undefined {
  const { known, now, paymentNotification } = context;
  if (parseRenewalNumber(paid.orderId) === undefined) return paid.subscription.startTime;
  const followsKnown = known !== undefined && isNextOrder(paid.orderId, withoutPlatform(known.purchase.transactionId));
  const notifiedAt = findPaymentTime(context, followsKnown);
  const isGapless = followsKnown && !isSuspended(known.purchase) && !paymentNotification?.isRecovery;
  const previousEnd = isGapless ? findPaidUntil(known) : undefined;
  // A renewal can be charged up to a day before the period ends.
  if (previousEnd !== undefined) return Math.min(previousEnd, notifiedAt ?? now);
  return notifiedAt ?? estimatePeriodStart(paid, context);
}

/**
 * Returns the time of the notification if it is about the latest order. A delayed one can be about an earlier order.
 */
function findPaymentTime({ paymentNotification, now }: StartContext, followsKnown: boolean): EpochMillis | undefined {
  const { occurredAt } = paymentNotification ?? {};
  if (occurredAt === undefined || occurredAt > now) return undefined;
  return followsKnown || now - occurredAt < dayMs ? occurredAt : undefined;
}

/** Whether the first order id is the one after the second: `GPA.1..0` after `GPA.1`, `GPA.1..3` after `GPA.1..2`. */
function isNextOrder(orderId = '', previousId: string): boolean {
  const [firstOrderId] = orderId.split('..');
  const [previousFirstId] = previousId.split('..');
  return firstOrderId === previousFirstId && parseRenewalNumber(orderId) === (parseRenewalNumber(previousId) ?? -1) + 1;
}

/** Whether access ended by a pause or account hold. The next period then starts with the recovery. */
const isSuspended = ({ isPaused, isBillingRetryPeriod, cancelationReason }: Purchase): boolean =>
  isPaused === true || (isBillingRetryPeriod === true && cancelationReason === 'System.BillingError');

/** Returns the end of the paid time. In a grace period, access ends later than the paid period. */
function findPaidUntil({ purchase, transactions }: KnownPurchase): EpochMillis | undefined {
  const latest = transactions.find(({ transactionId }) => transactionId === purchase.transactionId);
  return purchase.isBillingRetryPeriod ? latest?.expirationDate : purchase.expirationDate;
}

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
  return latest?.expirationDate === undefined ? undefined : latest.expirationDate - latest.purchaseDate;
}
