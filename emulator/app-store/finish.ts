import { requirePossible } from '../purchase-checks.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import { getLatestTransaction, type Purchase } from './records.ts';

/**
 * Finishes the transaction of a consumable, like an app that has delivered it. The transaction stays in the history of
 * the API, but not in later receipts of the device.
 *
 * @see https://developer.apple.com/documentation/appstorereceipts/responsebody/receipt-data.dictionary/in_app-data.dictionary
 * @see https://developer.apple.com/documentation/appstoreserverapi/historyresponse
 */
export function finish(purchase: Purchase, { product }: TransitionContext): Transition {
  const { type } = product(getLatestTransaction(purchase).productId);
  requirePossible(type === 'consumable', purchase, `is a ${type}: only consumables can be finished`);
  requirePossible(purchase.isFinished !== true, purchase, 'is already finished');
  return { purchase: { ...purchase, isFinished: true }, notifications: [] };
}
