import * as v from 'valibot';
import { Purchase } from '../purchases/purchase.ts';
import { Transaction } from '../purchases/transaction.ts';
import { parse } from '../shared/parse.ts';
import type { StoredItem } from '../shared/stream-record.ts';
import type { Product } from './count-product.ts';

const PurchaseItem = v.object({ purchase: Purchase });
const TransactionItem = v.object({ transaction: Transaction });
const NotificationItem = v.object({ date: v.number(), productId: v.exactOptional(v.string()) });

/**
 * Adds platform and product to the lifecycle notifications that were stored without them, given all items of their
 * purchase. The product of the latest transaction until the notification counts.
 */
export function completeNotifications(items: readonly StoredItem[]): StoredItem[] {
  const purchaseItem = items.find(({ kind }) => kind === 'purchase');
  if (!purchaseItem) return [...items];
  const { purchase } = parse(PurchaseItem, purchaseItem.item, 'DatabaseError');
  const transactions = items
    .filter(({ kind }) => kind === 'transaction')
    .map(({ item }) => parse(TransactionItem, item, 'DatabaseError').transaction)
    .sort((a, b) => a.purchaseDate - b.purchaseDate);
  const findProduct = (date: number): Product =>
    transactions.findLast(({ purchaseDate }) => purchaseDate <= date) ?? purchase;
  return items.map((stored) => {
    if (stored.kind !== 'notification') return stored;
    const { date, productId } = parse(NotificationItem, stored.item, 'DatabaseError');
    if (productId !== undefined) return stored;
    const product = findProduct(date);
    return { ...stored, item: { ...stored.item, platform: product.platform, productId: product.productId } };
  });
}
