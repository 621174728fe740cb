import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { CancelationReason, Millis } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { PaidTransaction } from './objects.ts';
import { microsOf } from './order.ts';
import type { Origin } from './origin.ts';

const own = (id: string): string => prefixed('processor_b', id);

/** A card's payment counts from its authorization on, as it settles by itself. */
const paid = new Set([
  'authorized',
  'authorizing',
  'submitted_for_settlement',
  'settling',
  'settled',
  'settlement_confirmed',
]);

/** Whether money was, or will be, taken. */
export const isTaken = ({ status, type }: PaidTransaction): boolean =>
  type === 'sale' && (paid.has(status) || status === 'settlement_pending');

/** How and when the payment was given back as a whole: voided, or refunded with `refunds`. */
export function takenBackAt(transaction: PaidTransaction, refunds: readonly PaidTransaction[]): Millis | undefined {
  if (transaction.status === 'voided') return Date.parse(transaction.updatedAt);
  const own = refunds.filter(({ id, status }) => transaction.refundIds.includes(id) && isGiven(status));
  const given = own.reduce((sum, { amount }) => sum + microsOf(amount), 0);
  if (own.length === 0 || given < microsOf(transaction.amount)) return undefined;
  return Math.max(...own.map(({ createdAt }) => Date.parse(createdAt)));
}

const isGiven = (status: string): boolean => paid.has(status) || status === 'settlement_pending';

/** A payment as a transaction of its purchase. */
export function paymentRecord(
  transaction: PaidTransaction,
  refunds: readonly PaidTransaction[],
  { origin, purchaseId }: { readonly origin: Origin; readonly purchaseId: string },
): Transaction {
  const refundedAt = takenBackAt(transaction, refunds);
  return {
    transactionId: own(transaction.id),
    purchaseId: own(purchaseId),
    productId: own(origin.productId),
    platform: 'processor_b',
    sandbox: origin.sandbox,
    purchaseDate: Date.parse(transaction.createdAt),
    ...(transaction.status === 'settlement_pending' && { isPending: true }),
    quantity: 1,
    currency: transaction.currencyIsoCode,
    amountMicros: microsOf(transaction.amount),
    ...(refundedAt !== undefined && { refundedAt }),
  };
}

/** One look at a purchase that a single payment made. */
export function transactionObservation(
  transaction: PaidTransaction,
  refunds: readonly PaidTransaction[],
  origin: Origin,
): Observation {
  const record = paymentRecord(transaction, refunds, { origin, purchaseId: transaction.id });
  const { isPending, refundedAt, ...same } = record;
  const failed = isTaken(transaction) ? undefined : Date.parse(transaction.updatedAt);
  const endedAt = refundedAt ?? failed;
  return {
    asOf: origin.at,
    purchase: {
      ...same,
      ...(origin.productType && { productType: origin.productType }),
      ...(isPending && { isPending }),
      ...(endedAt !== undefined && { endedAt, cancelationReason: reasonOf(transaction, refundedAt) }),
    },
    transactions: isTaken(transaction) || refundedAt !== undefined ? [record] : [],
    userTokens: [origin.customerId],
    refreshToken: { transaction: transaction.id, productId: origin.productId, customerId: origin.customerId },
  };
}

function reasonOf({ status }: PaidTransaction, refundedAt: Millis | undefined): CancelationReason {
  if (refundedAt !== undefined) return 'Customer';
  return status === 'gateway_rejected' ? 'System' : 'System.BillingError';
}
