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
]);

/** Whether the transaction is a payment that was or will be collected. */
export const isPaid = ({ status, type }: BraintreeTransaction): boolean => type === 'sale' && paidStatuses.has(status);

/** Whether the bank of the customer has not confirmed the payment yet. */
export const isSettlementPending = ({ status, type }: BraintreeTransaction): boolean =>
  type === 'sale' && status === 'settlement_pending';

/** Whether the payment has had a status in which it counts as paid. False if Braintree does not report the history. */
export const hasPaidStatus = ({ statusHistory }: BraintreeTransaction): boolean =>
  statusHistory.some(({ status }) => paidStatuses.has(status));

/** Whether a payment that ended unpaid counted as paid before. A payment without a history did. */
const wasPaid = (payment: BraintreeTransaction): boolean =>
  hasPaidStatus(payment) || payment.statusHistory.every(({ status }) => endedStatuses.has(status));

/** Statuses in which a refund counts. */
const refundStatuses = new Set([...paidStatuses, 'settlement_pending']);

const endedStatuses = new Set(['voided', 'settlement_declined']);

/** Dispute statuses in which the customer has the money back. */
const lostStatuses = new Set(['lost', 'accepted', 'auto_accepted', 'expired']);

/** Part of a payment that was returned to the customer. */
interface PaymentReversal {
  readonly amountMicros: number;
  readonly at: EpochMillis;
}

/**
 * Finds the time at which a whole payment was reversed: by a void, by refunds or by lost disputes. A declined settlement
 * or a void counts as a reversal if the payment counted as paid until then, but not if it was pending.
 */
export function findReversalDate(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): EpochMillis | undefined {
  if (endedStatuses.has(payment.status)) return wasPaid(payment) ? getStatusDate(payment) : undefined;
  const reversals = [
    ...listRefunds(payment, refunds),
    ...payment.disputes.flatMap((dispute) => toDisputeReversal(dispute, payment)),
  ];
  const total = reversals.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  if (reversals.length === 0 || total < toMicros(payment.amount)) return undefined;
  return Math.max(...reversals.map(({ at }) => at));
}

/** Returns when the payment got its status. */
export const getStatusDate = ({ status, statusHistory, updatedAt }: BraintreeTransaction): EpochMillis =>
  Date.parse(statusHistory.find((entry) => entry.status === status)?.timestamp ?? updatedAt);

const listRefunds = (
  { refundIds }: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): PaymentReversal[] =>
  refunds
    .filter(({ id, status }) => refundIds.includes(id) && refundStatuses.has(status))
    .map(({ amount, createdAt }) => ({ amountMicros: toMicros(amount), at: Date.parse(createdAt) }));

function toDisputeReversal(dispute: Dispute, { amount, updatedAt }: BraintreeTransaction): PaymentReversal[] {
  const { status, amountDisputed = amount, statusHistory } = dispute;
  if (!lostStatuses.has(status)) return [];
  const lostAt = statusHistory.find((entry) => entry.status === status)?.timestamp;
  const at = lostAt ?? dispute.updatedAt ?? dispute.createdAt ?? dispute.receivedDate ?? updatedAt;
  return [{ amountMicros: toMicros(amountDisputed), at: Date.parse(at) }];
}
