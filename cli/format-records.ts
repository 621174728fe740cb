import type { PurchaseDetails } from '../lib/purchases/purchase-contract.ts';
import type { TransactionRecord } from '../lib/purchases/transaction-contract.ts';
import type { Column } from './table.ts';

export const purchaseColumns: readonly Column<PurchaseDetails>[] = [
  { title: 'PURCHASE', value: ({ purchaseId }) => purchaseId, isWhole: true },
  { title: 'PRODUCT', value: ({ productId }) => productId },
  { title: 'STATE', value: describeState },
  { title: 'EXPIRES', value: ({ expirationDate }) => expirationDate && toSeconds(expirationDate), isWhole: true },
  { title: 'CUSTOMERS', value: ({ entitledUsers }) => entitledUsers.join(', ') },
];

export const transactionColumns: readonly Column<TransactionRecord>[] = [
  { title: 'DATE', value: ({ purchaseDate }) => toSeconds(purchaseDate), isWhole: true },
  { title: 'TRANSACTION', value: ({ transactionId }) => transactionId, isWhole: true },
  { title: 'PRODUCT', value: ({ productId }) => productId },
  { title: 'AMOUNT', value: formatAmount, align: 'right', isWhole: true },
  { title: 'REFUNDED', value: ({ refundDate }) => refundDate && toSeconds(refundDate), isWhole: true },
];

/** Formats a date of a record to the second. */
export const toSeconds = (date: string): string => date.replace(/\.\d{3}Z$/, 'Z');

/** Describes whether the purchase gives access, with its reason and environment. */
export function describeState({
  isPending,
  isExpired,
  cancelationReason,
  sandbox,
}: Pick<PurchaseDetails, 'isPending' | 'isExpired' | 'cancelationReason' | 'sandbox'>): string {
  const state = isPending ? 'pending' : isExpired ? 'ended' : 'active';
  const reason = cancelationReason === undefined ? '' : ` (${cancelationReason})`;
  return `${state}${reason}${sandbox ? ', sandbox' : ''}`;
}

function formatAmount({ amountMicros, currency }: TransactionRecord): string | undefined {
  if (amountMicros === null || amountMicros === undefined) return undefined;
  return `${(amountMicros / 1_000_000).toFixed(2)} ${currency ?? ''}`.trimEnd();
}
