import type { Purchase } from '../purchases/purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';

/** Picks the fields that a purchase has in common with its latest transaction. */
export const pickSharedFields = ({
  transactionId,
  purchaseId,
  productId,
  platform,
  sandbox,
}: Purchase): Pick<Transaction, 'transactionId' | 'purchaseId' | 'productId' | 'platform' | 'sandbox'> => ({
  transactionId,
  purchaseId,
  productId,
  platform,
  sandbox,
});
