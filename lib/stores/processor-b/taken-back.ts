import type { Millis } from '../../purchases/purchase.ts';
import type { Dispute, PaidTransaction } from './objects.ts';
import { microsOf } from './order.ts';

/** A card's payment counts from its authorization on, as it settles by itself. */
const paid = new Set([
  'authorized',
  'authorizing',
  'submitted_for_settlement',
  'settling',
  'settled',
  'settlement_confirmed',
  'settlement_pending',
]);

/** Whether money was, or will be, taken. */
export const isTaken = ({ status, type }: PaidTransaction): boolean => type === 'sale' && paid.has(status);

/** States of a dispute in which the customer has the money back. */
const lost = new Set(['lost', 'accepted', 'auto_accepted', 'expired']);

/**
 * When the payment went back as a whole: voided, refunded with `refunds`, or lost in a dispute. One whose settlement is
 * declined counted as paid until then, and goes back, too.
 */
export function takenBackAt(payment: PaidTransaction, refunds: readonly PaidTransaction[]): Millis | undefined {
  if (payment.status === 'voided' || payment.status === 'settlement_declined') return Date.parse(payment.updatedAt);
  const given = [...givenBack(payment, refunds), ...payment.disputes.flatMap((dispute) => lostIn(dispute, payment))];
  const total = given.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  if (given.length === 0 || total < microsOf(payment.amount)) return undefined;
  return Math.max(...given.map(({ at }) => at));
}

interface Given {
  readonly amountMicros: number;
  readonly at: Millis;
}

const givenBack = ({ refundIds }: PaidTransaction, refunds: readonly PaidTransaction[]): Given[] =>
  refunds
    .filter(({ id, status }) => refundIds.includes(id) && paid.has(status))
    .map(({ amount, createdAt }) => ({ amountMicros: microsOf(amount), at: Date.parse(createdAt) }));

function lostIn(dispute: Dispute, { amount, updatedAt }: PaidTransaction): Given[] {
  const { status, amountDisputed = amount, statusHistory } = dispute;
  if (!lost.has(status)) return [];
  const decided = statusHistory.find((entry) => entry.status === status)?.timestamp;
  const at = decided ?? dispute.updatedAt ?? dispute.createdAt ?? dispute.receivedDate ?? updatedAt;
  return [{ amountMicros: microsOf(amountDisputed), at: Date.parse(at) }];
}
