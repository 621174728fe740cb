import { formatTime } from '../calendar.ts';
import { type MerchantState, toMicros } from './merchant-state.ts';
import { isDisputed, type Payment } from './records.ts';
import { toDate } from './views.ts';

/** Statuses of a sale that is collected or will be. */
const paidStatuses: ReadonlySet<string> = new Set(['authorized', 'submitted_for_settlement', 'settling', 'settled']);

/**
 * Sums the payments with these ids, their refunds, and the amounts that disputes have debited and not returned. A
 * declined, voided or pending payment is not a payment.
 */
export function summarizePayments({ payments }: MerchantState, ids: readonly string[]) {
  const paid = ids.flatMap((id) => payments.get(id) ?? []).filter(({ status }) => paidStatuses.has(status));
  const refundIds = paid.flatMap((payment) => payment.refundIds);
  const refunds = listRefunds(payments, refundIds);
  return {
    payments: paid.map((payment) => toPaymentSummary(payments, payment)),
    paidMicros: sumMicros(paid),
    refundedMicros: sumMicros(refunds),
    disputedMicros: sumMicros(paid.filter(isDisputed)),
  };
}

function toPaymentSummary(all: MerchantState['payments'], payment: Payment) {
  const { id, createdAt, amount, taxAmount = '0', currency, billingPeriod, refundIds, disputes = [] } = payment;
  const dispute = disputes.at(-1);
  return {
    id,
    date: formatTime(payment.status === 'settled' && payment.history ? payment.updatedAt : createdAt),
    amountMicros: toMicros(amount),
    taxMicros: toMicros(taxAmount),
    currency,
    ...(billingPeriod && { periodStart: toDate(billingPeriod[0]), periodEnd: toDate(billingPeriod[1]) }),
    refunds: listRefunds(all, refundIds).map((refund) => ({
      id: refund.id,
      createdAt: formatTime(refund.createdAt),
      amountMicros: toMicros(refund.amount),
    })),
    ...(dispute && { dispute: { status: dispute.status, openedAt: formatTime(dispute.openedAt) } }),
  };
}

const listRefunds = (payments: MerchantState['payments'], ids: readonly string[]): Payment[] =>
  ids.flatMap((id) => payments.get(id) ?? []).filter(({ status }) => status !== 'voided' && status !== 'failed');

const sumMicros = (payments: readonly Payment[]): number =>
  payments.reduce((sum, { amount }) => sum + toMicros(amount), 0);
