import type Stripe from 'stripe';
import { type AccountObjects, generateId, getId, saveObject } from './account-objects.ts';
import { type AccountState, listInvoicePayments, listInvoices, requirePossible } from './account-state.ts';
import { toSeconds } from './catalogue.ts';
import { formatAmount, toMinorUnits } from './money.ts';
import type { ReversalInput } from './payment-reversals.ts';

/**
 * Reports a refund on the latest payment record of a subscription. Stripe sends no event, and the invoice stays as it
 * is.
 *
 * @see https://docs.stripe.com/api/payment-record/report-refund/report
 */
export function reportRefund(
  { records }: AccountState,
  { purchaseId, details: { amountMicros } }: ReversalInput,
): string {
  const { record } = listOutsidePayments(records, purchaseId).at(-1) ?? {};
  requirePossible(record !== undefined, purchaseId, 'does not have a payment record');
  const { amount, amount_refunded } = record;
  const { currency } = amount;
  const remaining = amount.value - amount_refunded.value;
  const refund = amountMicros === undefined ? remaining : toMinorUnits(amountMicros, currency, 'amountMicros');
  const problem = `has only ${formatAmount(remaining, currency)} to refund`;
  requirePossible(refund > 0 && refund <= remaining, purchaseId, problem);
  const value = amount_refunded.value + refund;
  saveObject(records, 'payment_records', { ...record, amount_refunded: { currency, value } });
  return purchaseId;
}

/** Lists the payments of a subscription outside of Stripe, oldest first. */
export const listOutsidePayments = (records: AccountObjects, purchaseId: string) =>
  listInvoices(records, purchaseId).flatMap((invoice) =>
    listInvoicePayments(records, invoice.id).flatMap(({ payment }) => {
      const record = records.objects.payment_records.get(getId(payment.payment_record));
      return record ? [{ invoice, record }] : [];
    }),
  );

/** @see https://docs.stripe.com/api/payment-record/object */
export function buildPaymentRecord(
  { amount_paid, currency, livemode }: Stripe.Invoice,
  at: number,
): Stripe.PaymentRecord {
  const toAmount = (value: number) => ({ currency, value });
  return {
    id: generateId('pr'),
    object: 'payment_record',
    amount: toAmount(amount_paid),
    amount_authorized: toAmount(amount_paid),
    amount_canceled: toAmount(0),
    amount_failed: toAmount(0),
    amount_guaranteed: toAmount(amount_paid),
    amount_refunded: toAmount(0),
    amount_requested: toAmount(amount_paid),
    application: null,
    created: toSeconds(at),
    customer_details: null,
    customer_presence: null,
    description: null,
    latest_payment_attempt_record: generateId('par'),
    livemode,
    metadata: {},
    payment_method_details: null,
    processor_details: { type: 'custom', custom: { payment_reference: generateId('x') } },
    reported_by: 'self',
    shipping_details: null,
  };
}
