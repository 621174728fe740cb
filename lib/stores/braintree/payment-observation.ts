import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { platformTokens, withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { type MappingContext, toTokenMembers } from './mapping-context.ts';
import { toMicros } from './money.ts';
import type { BraintreeTransaction } from './payloads.ts';
import { findReversals, getStatusDate, hasPaidStatus, isPaid, isSettlementPending } from './payment-reversals.ts';

export const toPrefixedId = (id: string): string => withPlatform(platformTokens.braintree, id);

/** Maps a payment to a transaction of a purchase. `refunds` contains at least the refunds of the payment. */
export function toTransaction(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
  { context, purchaseId }: { readonly context: MappingContext; readonly purchaseId: string },
): Transaction {
  return {
    transactionId: toPrefixedId(payment.id),
    purchaseId: toPrefixedId(purchaseId),
    productId: toPrefixedId(context.productId),
    platform: platformTokens.braintree,
    sandbox: context.sandbox,
    purchaseDate: Date.parse(payment.createdAt),
    quantity: 1,
    currency: payment.currencyIsoCode,
    amountMicros: toMicros(payment.amount),
    ...findReversals(payment, refunds),
  };
}

/** Maps a one-time payment to an observation. */
export function toPaymentObservation(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
  context: MappingContext,
): Observation {
  const transaction = toTransaction(payment, refunds, { context, purchaseId: payment.id });
  const { refundedAt, partialRefunds, ...common } = transaction;
  const isPending = isSettlementPending(payment);
  const hasFailed = !isPaid(payment) && !isPending;
  const endedAt = refundedAt ?? (hasFailed ? getStatusDate(payment) : undefined);
  return {
    asOf: context.asOf,
    purchase: {
      ...common,
      ...(context.productType && { productType: context.productType }),
      ...(isPending && { isPending }),
      ...(hasFailed && refundedAt === undefined && !hasPaidStatus(payment) && { isAbandoned: true }),
      ...(endedAt !== undefined && { endedAt, cancelationReason: toCancelationReason(payment, refundedAt) }),
    },
    transactions: isPaid(payment) || refundedAt !== undefined ? [transaction] : [],
    userAliases: [],
    refreshToken: { transaction: payment.id, ...toTokenMembers(context) },
  };
}

function toCancelationReason({ status }: BraintreeTransaction, refundedAt: EpochMillis | undefined): CancelationReason {
  if (refundedAt !== undefined && status !== 'settlement_declined') return 'Customer';
  return status === 'gateway_rejected' ? 'System' : 'System.BillingError';
}
