import type { EpochMillis } from '../../shared/time.ts';
import { toMicros } from './order.ts';
import type { BraintreeTransaction, Dispute } from './payloads.ts';

/** A card's payment counts from its authorization on, as it settles by itself. */
const paidStatuses = new Set([
  'authorized',
  'authorizing',
  'submitted_for_settlement',
  'settling',
  'settled',
  'settlement_confirmed',
  'settlement_pending',
]);

/** Whether money was, or will be, taken. */
export const isPaid = ({ status, type }: BraintreeTransaction): boolean => type === 'sale' && paidStatuses.has(status);

/** States of a dispute in which the customer has the money back. */
const lostStatuses = new Set(['lost', 'accepted', 'auto_accepted', 'expired']);

/**
 * When the payment went back as a whole: voided, refunded with `refunds`, or lost in a dispute. One whose settlement is
 * declined counted as paid until then, and goes back, too.
 */
export function findReversalDate(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): EpochMillis | undefined {
  if (payment.status === 'voided' || payment.status === 'settlement_declined') return Date.parse(payment.updatedAt);
  const given = [
    ...listRefunds(payment, refunds),
    ...payment.disputes.flatMap((dispute) => toDisputeReversal(dispute, payment)),
  ];
  const total = given.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  if (given.length === 0 || total < toMicros(payment.amount)) return undefined;
  return Math.max(...given.map(({ at }) => at));
}

interface Reversal {
  readonly amountMicros: number;
  readonly at: EpochMillis;
}

const listRefunds = ({ refundIds }: BraintreeTransaction, refunds: readonly BraintreeTransaction[]): Reversal[] =>
  refunds
    .filter(({ id, status }) => refundIds.includes(id) && paidStatuses.has(status))
    .map(({ amount, createdAt }) => ({ amountMicros: toMicros(amount), at: Date.parse(createdAt) }));

function toDisputeReversal(dispute: Dispute, { amount, updatedAt }: BraintreeTransaction): Reversal[] {
  const { status, amountDisputed = amount, statusHistory } = dispute;
  if (!lostStatuses.has(status)) return [];
  const decided = statusHistory.find((entry) => entry.status === status)?.timestamp;
  const at = decided ?? dispute.updatedAt ?? dispute.createdAt ?? dispute.receivedDate ?? updatedAt;
  return [{ amountMicros: toMicros(amountDisputed), at: Date.parse(at) }];
}
