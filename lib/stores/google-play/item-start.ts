import type { EpochMillis } from '../../foundation/time.ts';
import { findLine } from './order-lines.ts';
import { getPaymentDate } from './paid-period.ts';
import type { LineItem, Order, Subscription } from './payloads.ts';

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
