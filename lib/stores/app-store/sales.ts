import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { StoreTransaction } from './store-transaction.ts';

type SaleFields = Pick<StoreTransaction, 'saleId'>;
type SaleSource = Pick<StoreTransaction, 'originalTransactionId' | 'productType' | 'expiresDate'> & {
  readonly lineItemId: string | undefined;
};

/**
 * Returns the id of the sale. The App Store lists a sale under further transaction ids when a customer restores it or
 * uses it on another device. The line item of a subscription's period has one id for all of them. A non-consumable is
 * one sale, which its original transaction identifies. A consumable is not restored.
 * @see https://developer.apple.com/documentation/appstoreserverapi/weborderlineitemid
 * @see https://developer.apple.com/documentation/appstoreserverapi/transactionid
 */
export function toSaleFields({ originalTransactionId, productType, expiresDate, lineItemId }: SaleSource): SaleFields {
  // Receipts without it have the number 0.
  if (expiresDate !== undefined) return omitUndefined({ saleId: lineItemId?.replace(/^0+$/, '') || undefined });
  return productType === 'consumable' || productType === 'non renewing subscription'
    ? {}
    : { saleId: originalTransactionId };
}

export const isSameSale = (a: StoreTransaction, b: StoreTransaction): boolean =>
  a.transactionId === b.transactionId || (a.saleId !== undefined && a.saleId === b.saleId);

/** Returns one transaction for each sale: the latest signed copy, with id and date of the first transaction. */
export function mergeSales(transactions: readonly StoreTransaction[]): StoreTransaction[] {
  const merged = new Map<string, StoreTransaction>();
  for (const transaction of transactions.map(toOriginal)) {
    const key = transaction.saleId ?? transaction.transactionId;
    const existing = merged.get(key);
    merged.set(key, existing ? mergeSale(existing, transaction) : transaction);
  }
  return [...merged.values()];
}

/** Replaces id and date of a restored non-consumable by the original transaction, which it contains. */
function toOriginal(transaction: StoreTransaction): StoreTransaction {
  const {
    transactionId,
    originalTransactionId,
    saleId,
    purchaseDate,
    originalPurchaseDate = purchaseDate,
  } = transaction;
  if (saleId !== originalTransactionId || transactionId === originalTransactionId) return transaction;
  return {
    ...transaction,
    transactionId: originalTransactionId,
    purchaseDate: originalPurchaseDate,
    otherIds: [transactionId],
  };
}

function mergeSale(a: StoreTransaction, b: StoreTransaction): StoreTransaction {
  const latest = (b.signedAt ?? 0) >= (a.signedAt ?? 0) ? b : a;
  const { transactionId, purchaseDate } = isFirstId(a.transactionId, b.transactionId) ? a : b;
  const ids = [a, b].flatMap(({ otherIds = [], ...transaction }) => [transaction.transactionId, ...otherIds]);
  const otherIds = [...new Set(ids)].filter((id) => id !== transactionId);
  return { ...latest, transactionId, purchaseDate, ...(otherIds.length > 0 && { otherIds }) };
}

/** Compares two numbers as text: they can exceed the safe range. */
const isFirstId = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length);

export const hasTransactionId = ({ transactionId, otherIds = [] }: StoreTransaction, id: unknown): boolean =>
  transactionId === id || otherIds.some((otherId) => otherId === id);
