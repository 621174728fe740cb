import { floorToSecond } from '../calendar.ts';
import { requirePossible } from '../purchase-checks.ts';
import { type Transition, type TransitionContext, withLatestTransaction } from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';

/**
 * Restores the latest transaction of a purchase on another device with the original StoreKit. The copy has a new
 * transaction id, the same original transaction id and the same `webOrderLineItemId`. Its purchase date is the time of
 * the restoration or the original one.
 *
 * @see https://developer.apple.com/documentation/appstorereceipts/transaction_id
 * @see https://developer.apple.com/documentation/appstorereceipts/purchase_date
 */
export function restore(
  purchase: Purchase,
  { at, product, nextId }: TransitionContext,
  date: 'original' | 'now' = 'original',
): Transition {
  const latest = getLatestTransaction(purchase);
  const { type } = product(latest.productId);
  const isRestorable = type === 'paid subscription' || type === 'non consumable';
  requirePossible(isRestorable, purchase, `is a ${type}, which cannot be restored`);
  requirePossible(latest.revocation === undefined, purchase, 'was refunded');
  const purchaseDate = date === 'now' ? floorToSecond(at) : latest.purchaseDate;
  const restores = [...(latest.restores ?? []), { transactionId: nextId(), purchaseDate }];
  return { purchase: withLatestTransaction(purchase, { restores }), notifications: [] };
}

/** Returns a transaction as the customer's device has it: the latest restored copy, or the transaction itself. */
export const toDeviceTransaction = (transaction: Transaction): Transaction => ({
  ...transaction,
  ...transaction.restores?.at(-1),
});

/** Finds a transaction of a purchase by its id or by the id of a restored copy. */
export function findTransactionCopy({ transactions }: Purchase, transactionId: string): Transaction | undefined {
  for (const transaction of transactions) {
    if (transaction.transactionId === transactionId) return transaction;
    const copy = transaction.restores?.find((restored) => restored.transactionId === transactionId);
    if (copy !== undefined) return { ...transaction, ...copy };
  }
  return undefined;
}
