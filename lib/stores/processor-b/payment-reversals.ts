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

/** Part of a payment that was returned to the customer. */
interface PaymentReversal {
  readonly amountMicros: number;
  readonly at: EpochMillis;
}

/**
 * Finds the time at which a whole payment was reversed: by a void, by refunds or by lost disputes. A declined settlement
 * counts as a reversal, because the payment counted as paid until then.
 */
export function findReversalDate(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): EpochMillis | undefined {
  if (payment.status === 'voided' || payment.status === 'settlement_declined') return Date.parse(payment.updatedAt);
  const reversals = [
    ...listRefunds(payment, refunds),
    ...payment.disputes.flatMap((dispute) => toDisputeReversal(dispute, payment)),
  ];
  const total = reversals.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  if (reversals.length === 0 || total < toMicros(payment.amount)) return undefined;
  return Math.max(...reversals.map(({ at }) => at));
}

const listRefunds = (
  { refundIds }: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): PaymentReversal[] =>
  refunds
    .filter(({ id, status }) => refundIds.includes(id) && paidStatuses.has(status))
    .map(({ amount, createdAt }) => ({ amountMicros: toMicros(amount), at: Date.parse(createdAt) }));

function toDisputeReversal(dispute: Dispute, { amount, updatedAt }: BraintreeTransaction): PaymentReversal[] {
  const { status, amountDisputed = amount, statusHistory } = dispute;
  if (!lostStatuses.has(status)) return [];
  const lostAt = statusHistory.find((entry) => entry.status === status)?.timestamp;
  const at = lostAt ?? dispute.updatedAt ?? dispute.createdAt ?? dispute.receivedDate ?? updatedAt;
  return [{ amountMicros: toMicros(amountDisputed), at: Date.parse(at) }];
}
