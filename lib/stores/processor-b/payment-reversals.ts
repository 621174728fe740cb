import type { PartialRefund } from '../../purchases/transaction.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { toMicros } from './money.ts';
import type { BraintreeTransaction, Dispute } from './payloads.ts';

/**
 * Statuses in which a payment counts as paid. It counts from the authorization on, because settlement is automatic.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/statuses
 */
const paidStatuses = new Set([
  'authorized',
  'authorizing',
  'submitted_for_settlement',
  'settling',
  'settled',
  'settlement_confirmed',
  'settlement_pending',
]);

/** Whether the transaction is a payment that was or will be collected. */
export const isPaid = ({ status, type }: BraintreeTransaction): boolean => type === 'sale' && paidStatuses.has(status);

/** Dispute statuses in which the customer has the money back. */
const lostStatuses = new Set(['lost', 'accepted', 'auto_accepted', 'expired']);

/** The money of a payment that was returned to the customer. */
export interface PaymentReversals {
  /** When the whole payment, or the rest of it, was reversed. */
  readonly refundedAt?: EpochMillis;
  /** The earlier returns of parts of the payment. */
  readonly partialRefunds?: readonly PartialRefund[];
}

/**
 * Finds the reversals of a payment: a void, refunds and lost disputes. A declined settlement counts as a reversal, because the
 * payment counted as paid until then. The refund that completes a full refund is not a partial refund.
 */
export function findReversals(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): PaymentReversals {
  if (payment.status === 'voided' || payment.status === 'settlement_declined') {
    return { refundedAt: findStatusDate(payment) };
  }
  const reversals = [
    ...listRefunds(payment, refunds),
    ...payment.disputes.flatMap((dispute) => toDisputeReversal(dispute, payment)),
  ].sort((a, b) => a.date - b.date);
  const total = reversals.reduce((sum, { amountMicros = 0 }) => sum + amountMicros, 0);
  const completing = total >= toMicros(payment.amount) ? reversals.at(-1) : undefined;
  const partialRefunds = reversals.filter((reversal) => reversal !== completing);
  return {
    ...(completing && { refundedAt: completing.date }),
    ...(partialRefunds.length > 0 && { partialRefunds }),
  };
}

/** Returns the time at which the payment got its status. */
const findStatusDate = ({ status, statusHistory, updatedAt }: BraintreeTransaction): EpochMillis =>
  Date.parse(statusHistory.find((entry) => entry.status === status)?.timestamp ?? updatedAt);

const listRefunds = ({ refundIds }: BraintreeTransaction, refunds: readonly BraintreeTransaction[]): PartialRefund[] =>
  refunds
    .filter(({ id, status }) => refundIds.includes(id) && paidStatuses.has(status))
    .map(({ id, amount, createdAt }) => ({ id, amountMicros: toMicros(amount), date: Date.parse(createdAt) }));

function toDisputeReversal(dispute: Dispute, { amount, updatedAt }: BraintreeTransaction): PartialRefund[] {
  const { id = 'dispute', status, amountDisputed = amount, statusHistory } = dispute;
  if (!lostStatuses.has(status)) return [];
  const lostAt = statusHistory.find((entry) => entry.status === status)?.timestamp;
  const date = lostAt ?? dispute.updatedAt ?? dispute.createdAt ?? dispute.receivedDate ?? updatedAt;
  return [{ id, amountMicros: toMicros(amountDisputed), date: Date.parse(date) }];
}
