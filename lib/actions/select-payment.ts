import { ServiceError } from '../foundation/errors.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';

/** Returns the amount of a payment that is not refunded. Undefined if the store does not report the amount. */
export function computeRefundableMicros(payment: Transaction): number | undefined {
  if (payment.amountMicros === undefined) return undefined;
  return listRefundedAmounts(payment).reduce((rest, { amountMicros = 0 }) => rest - amountMicros, payment.amountMicros);
}

const isRefundable = (payment: Transaction): boolean =>
  payment.refundedAt === undefined && payment.isPending !== true && (computeRefundableMicros(payment) ?? 1) > 0;

/**
 * Selects the payment of an action: the requested one, or the latest one that can be refunded. `payments` are ordered
 * latest first. Throws `ResourceNotFound` for a transaction of a different purchase.
 */
export function selectPayment(payments: readonly Transaction[], transactionId?: string): Transaction | undefined {
  if (transactionId === undefined) return payments.find(isRefundable);
  const requested = payments.find((payment) => payment.transactionId === transactionId);
  if (!requested) throw new ServiceError('ResourceNotFound', 'transactionId is not a payment of the purchase.');
  return isRefundable(requested) ? requested : undefined;
}
