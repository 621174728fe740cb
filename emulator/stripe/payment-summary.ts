import { sum } from '../sum.ts';
import { type AccountObjects, getId } from './account-objects.ts';
import { listPurchaseInvoices } from './account-state.ts';
import { listCreditNotes } from './credit-notes.ts';
import { toAmountMicros } from './money.ts';
import { listOutsidePayments } from './payment-records.ts';
import { listCharges } from './payment-reversals.ts';

/**
 * Sums the payments of a purchase: the succeeded charges and the payments outside of Stripe, their refunds, and the
 * funds that disputes have withdrawn and not returned. A failed charge and a free trial are not payments.
 */
export function summarizePayments(records: AccountObjects, purchaseId: string) {
  const charges = listCharges(records, purchaseId).filter(({ captured }) => captured);
  const ids = charges.map(({ id }) => id);
  const disputes = [...records.objects.disputes.values()].filter(({ charge }) => ids.includes(getId(charge)));
  const outside = listOutsidePayments(records, purchaseId).map(({ record }) => record);
  const currency = charges[0]?.currency ?? outside[0]?.amount.currency ?? 'usd';
  const toMicros = (amounts: readonly number[]): number => toAmountMicros(sum(amounts), currency);
  return {
    charges: ids,
    paidMicros: toMicros([
      ...charges.map(({ amount_captured }) => amount_captured),
      ...outside.map(({ amount }) => amount.value),
    ]),
    refundedMicros: toMicros([
      ...outside.map(({ amount_refunded }) => amount_refunded.value),
      // What was not captured is released as a refund.
      ...charges.map(({ amount, amount_captured, amount_refunded }) => amount_refunded - (amount - amount_captured)),
      ...listPurchaseInvoices(records, purchaseId).flatMap(({ id }) =>
        listCreditNotes(records, id).map(({ amount }) => amount),
      ),
    ]),
    disputedMicros: toMicros(
      disputes.flatMap(({ balance_transactions }) => balance_transactions.map(({ amount }) => -amount)),
    ),
  };
}
