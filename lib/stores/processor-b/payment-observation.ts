import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { MappingContext } from './mapping-context.ts';
import { toMicros } from './order.ts';
import type { BraintreeTransaction } from './payloads.ts';
import { findReversalDate, isPaid } from './payment-reversals.ts';

const toPurchaseId = (id: string): string => withPlatform('processor_b', id);

/** A payment as a transaction of its purchase. */
export function toTransaction(
  transaction: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
  { origin: context, purchaseId }: { readonly origin: MappingContext; readonly purchaseId: string },
): Transaction {
  const refundedAt = findReversalDate(transaction, refunds);
  return {
    transactionId: toPurchaseId(transaction.id),
    purchaseId: toPurchaseId(purchaseId),
    productId: toPurchaseId(context.productId),
    platform: 'processor_b',
    sandbox: context.sandbox,
    purchaseDate: Date.parse(transaction.createdAt),
    ...(transaction.status === 'settlement_pending' && { isPending: true }),
    quantity: 1,
    currency: transaction.currencyIsoCode,
    amountMicros: toMicros(transaction.amount),
    ...(refundedAt !== undefined && { refundedAt }),
  };
}

/** One look at a purchase that a single payment made. */
export function toPaymentObservation(
  transaction: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
  context: MappingContext,
): Observation {
  const record = toTransaction(transaction, refunds, { origin: context, purchaseId: transaction.id });
  const { isPending, refundedAt, ...same } = record;
  const failed = isPaid(transaction) ? undefined : Date.parse(transaction.updatedAt);
  const endedAt = refundedAt ?? failed;
  return {
    asOf: context.at,
    purchase: {
      ...same,
      ...(context.productType && { productType: context.productType }),
      ...(isPending && { isPending }),
      ...(endedAt !== undefined && { endedAt, cancelationReason: toCancelationReason(transaction, refundedAt) }),
    },
    transactions: isPaid(transaction) || refundedAt !== undefined ? [record] : [],
    userAliases: [context.customerId],
    refreshToken: { transaction: transaction.id, productId: context.productId, customerId: context.customerId },
  };
}

function toCancelationReason({ status }: BraintreeTransaction, refundedAt: EpochMillis | undefined): CancelationReason {
  if (refundedAt !== undefined && status !== 'settlement_declined') return 'Customer';
  return status === 'gateway_rejected' ? 'System' : 'System.BillingError';
}
