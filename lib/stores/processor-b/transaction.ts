import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { CancelationReason, Millis } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { PaidTransaction } from './objects.ts';
import { microsOf } from './order.ts';
import type { Origin } from './origin.ts';
import { isTaken, takenBackAt } from './taken-back.ts';

const own = (id: string): string => prefixed('processor_b', id);

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
  if (refundedAt !== undefined && status !== 'settlement_declined') return 'Customer';
  return status === 'gateway_rejected' ? 'System' : 'System.BillingError';
}
