import { controlError } from '../control-error.ts';
import { requirePossible } from '../purchase-checks.ts';
import type { ActionBody, PurchaseOrder } from '../purchase-order.ts';
import { sum } from '../sum.ts';
import type { Item, Purchase, Transaction } from './records.ts';

/** Returns the ordered items of the Advanced Commerce API, whose prices are the price of the generic product. */
export const buildItems = ({ items }: PurchaseOrder): readonly Item[] | undefined =>
  items?.map((item) => {
    if (typeof item === 'string' || item.period !== undefined || item.oneTime !== undefined)
      throw controlError(422, 'items: expected objects with productId and priceMicros.');
    return { sku: item.productId, priceMicros: item.priceMicros };
  });

export const sumPrices = (items: readonly Item[]): number => sum(items.map(({ priceMicros }) => priceMicros));

/** Returns the items that the next period bills. */
export const listNextItems = ({ items }: Transaction): readonly Item[] | undefined =>
  items?.filter(({ revokedAt }) => revokedAt === undefined).map(withoutRefunds);

export const withoutRefunds = ({ sku, priceMicros }: Item): Item => ({ sku, priceMicros });

/** Sums the refunds of the items of a transaction, in micros. */
export const sumItemRefunds = (items: readonly Item[]): number => sum(items.map(sumRefunds));

const sumRefunds = ({ refunds = [] }: Item): number => sum(refunds.map(({ amountMicros }) => amountMicros));

/**
 * Refunds an item and ends its access, by default all items. The refund of a part of its price keeps the access.
 *
 * @see https://developer.apple.com/documentation/advancedcommerceapi/requestrefunditem
 */
export function refundItems(
  purchase: Purchase,
  { items = [] }: Transaction,
  { at, details: { productId, amountMicros } }: { readonly at: number; readonly details: ActionBody },
): readonly Item[] {
  if (amountMicros !== undefined && productId === undefined)
    throw controlError(400, 'productId: the refund of an amount requires the item.');
  const isRefunded = ({ sku, revokedAt }: Item) => revokedAt === undefined && (productId ?? sku) === sku;
  requirePossible(items.some(isRefunded), purchase, 'does not have this item to refund');
  return items.map((item) => {
    if (!isRefunded(item)) return item;
    const remaining = item.priceMicros - sumRefunds(item);
    const { refunds = [] } = item;
    const amount = amountMicros ?? remaining;
    requirePossible(amount <= remaining, purchase, `has only ${remaining} micros of ${item.sku} to refund`);
    const refunded = { ...item, refunds: [...refunds, { at, amountMicros: amount }] };
    return amountMicros === undefined ? { ...refunded, revokedAt: at } : refunded;
  });
}
