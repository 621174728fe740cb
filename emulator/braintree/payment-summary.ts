import type { MerchantState } from './merchant-state.ts';
import type { Payment } from './records.ts';

/** Statuses of a sale that is collected or will be. */
const paidStatuses: ReadonlySet<string> = new Set(['authorized', 'submitted_for_settlement', 'settling', 'settled']);

/**
 * Sums the payments with these ids, their refunds, and the amounts that disputes have debited and not returned. A
 * declined, voided or pending payment is not a payment.
 */
export function summarizePayments({ payments }: MerchantState, ids: readonly string[]) {
  const paid = ids.flatMap((id) => payments.get(id) ?? []).filter(({ status }) => paidStatuses.has(status));
  const refundIds = paid.flatMap((payment) => payment.refundIds);
  const refunds = refundIds.flatMap((id) => payments.get(id) ?? []).filter(({ status }) => status !== 'voided');
  return {
    paidMicros: sumMicros(paid),
    refundedMicros: sumMicros(refunds),
    disputedMicros: sumMicros(paid.filter(({ dispute }) => dispute && dispute.status !== 'won')),
  };
}

const sumMicros = (payments: readonly Payment[]): number =>
  payments.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 1_000_000), 0);
