import type Stripe from 'stripe';
import { formatTime, secondMs } from '../calendar.ts';
import { sum } from '../sum.ts';
import { type AccountObjects, getId } from './account-objects.ts';
import { listInvoiceCharges, listInvoicePayments, listInvoices } from './account-state.ts';
import { listCreditNotes } from './credit-notes.ts';
import { toAmountMicros } from './money.ts';
import { listOutsidePayments } from './payment-records.ts';
import { listPaidCharges } from './payment-reversals.ts';

/**
 * Lists the invoices and the payments of a purchase, oldest first, so that a program can compute its revenue, refunds,
 * taxes and recurring revenue. The payments outside of Stripe follow those with a number, which actions refer to.
 */
export const toLedger = (records: AccountObjects, purchaseId: string) => ({
  invoices: listInvoices(records, purchaseId).map((invoice) => toInvoiceSummary(records, invoice)),
  payments: [
    ...listPaidCharges(records, purchaseId).map((charge, index) => ({
      number: index + 1,
      ...toPaymentSummary(records, charge, purchaseId),
    })),
    ...listOutsidePayments(records, purchaseId).map((payment) => toOutsideSummary(records, payment)),
  ],
});

function toInvoiceSummary(records: AccountObjects, invoice: Stripe.Invoice) {
  const { id, status, billing_reason, created, currency, due_date, status_transitions } = invoice;
  const toMicros = (amount: number): number => toAmountMicros(amount, currency);
  return {
    id,
    status,
    billingReason: billing_reason,
    createdAt: formatSeconds(created),
    ...(due_date !== null && { dueDate: formatSeconds(due_date) }),
    ...(status_transitions.paid_at !== null && { paidAt: formatSeconds(status_transitions.paid_at) }),
    currency: currency.toUpperCase(),
    totalMicros: toMicros(invoice.total),
    amountPaidMicros: toMicros(invoice.amount_paid),
    taxes: (invoice.total_taxes ?? []).map((tax) => toTaxSummary(records, tax, currency)),
    lines: invoice.lines.data.map((line) => toInvoiceLineSummary(records, line)),
    payments: listInvoicePayments(records, id).map((payment) => {
      const charge = findCharge(records, payment);
      const failedAt = charge?.status === 'failed' ? findFirstFailure(records, charge) : undefined;
      return {
        id: payment.id,
        status: payment.status,
        chargeId: charge?.id ?? null,
        amountMicros: toMicros(payment.amount_paid ?? payment.amount_requested),
        ...(failedAt !== undefined && { failedAt: formatSeconds(failedAt) }),
      };
    }),
  };
}

function toInvoiceLineSummary(records: AccountObjects, line: Stripe.InvoiceLineItem) {
  const { id, amount, currency, quantity, period, parent, taxes, pricing } = line;
  return {
    id,
    productId: pricing?.price_details?.product,
    itemId: parent?.subscription_item_details?.subscription_item ?? null,
    amountMicros: toAmountMicros(amount, currency),
    quantity,
    isProration: (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration ?? false,
    periodStart: formatSeconds(period.start),
    periodEnd: formatSeconds(period.end),
    taxes: (taxes ?? []).map((tax) => toTaxSummary(records, tax, currency)),
  };
}

const toTaxSummary = (
  { objects }: AccountObjects,
  { amount, tax_rate_details }: Stripe.Invoice.TotalTax,
  currency: string,
) => ({
  amountMicros: toAmountMicros(amount, currency),
  percentage: objects.tax_rates.get(tax_rate_details?.tax_rate ?? '')?.percentage,
});

function toPaymentSummary(records: AccountObjects, charge: Stripe.Charge, purchaseId: string) {
  const { id, amount_captured: amount, currency, created } = charge;
  const toMicros = (minor: number): number => toAmountMicros(minor, currency);
  const payment = [...records.objects.invoice_payments.values()].find(
    (object) => getId(object.payment.payment_intent) === getId(charge.payment_intent),
  );
  const invoice = records.objects.invoices.get(getId(payment?.invoice));
  return {
    id,
    paidAt: formatTime(records.confirmedAt.get(id) ?? (payment?.status_transitions.paid_at ?? created) * secondMs),
    amountMicros: toMicros(amount),
    taxMicros: toMicros(computeTax(records, { charge, invoice, purchaseId })),
    currency: currency.toUpperCase(),
    ...(invoice ? toBilledFields(invoice) : { productIds: [...new Set(listSoldProducts(records, purchaseId))] }),
    refunds: listReturns(records, charge, invoice).map((refund) => toRefundSummary(refund, toMicros)),
    disputes: [...records.objects.disputes.values()]
      .filter((dispute) => getId(dispute.charge) === id)
      .map((dispute) => ({
        id: dispute.id,
        status: dispute.status,
        balances: dispute.balance_transactions.map((balance) => ({
          createdAt: formatSeconds(balance.created),
          amountMicros: toMicros(balance.amount),
        })),
      })),
  };
}

function toBilledFields({ id, lines: { data } }: Stripe.Invoice) {
  return {
    productIds: [...new Set(data.map(({ pricing }) => String(pricing?.price_details?.product)))],
    invoiceId: id,
    periodStart: formatSeconds(Math.min(...data.map(({ period }) => period.start))),
    periodEnd: formatSeconds(Math.max(...data.map(({ period }) => period.end))),
  };
}

/** The record has the sum of its refunds, and no date of them. It cannot be disputed. */
function toOutsideSummary(
  records: AccountObjects,
  { invoice, record: { id, amount, amount_refunded, created } }: ReturnType<typeof listOutsidePayments>[number],
) {
  const toMicros = (minor: number): number => toAmountMicros(minor, amount.currency);
  return {
    id,
    paidAt: formatSeconds(created),
    amountMicros: toMicros(amount.value),
    taxMicros: toMicros(sum((invoice.total_taxes ?? []).map((tax) => tax.amount))),
    currency: amount.currency.toUpperCase(),
    ...toBilledFields(invoice),
    refunds: [
      ...(amount_refunded.value > 0 ? [{ id, amountMicros: toMicros(amount_refunded.value) }] : []),
      ...listCreditNotes(records, invoice.id).map((note) => toRefundSummary(note, toMicros)),
    ],
    disputes: [],
  };
}

const toRefundSummary = (
  { id, created, amount }: Stripe.Refund | Stripe.CreditNote,
  toMicros: (minor: number) => number,
) => ({ id, createdAt: formatSeconds(created), amountMicros: toMicros(amount) });

/** Lists the refunds of a charge. The credit notes of an invoice belong to its first charge. */
function listReturns(records: AccountObjects, { id }: Stripe.Charge, invoice: Stripe.Invoice | undefined) {
  const refunds = [...records.objects.refunds.values()].filter(
    ({ charge, status, reason }) => getId(charge) === id && status !== 'failed' && reason !== null,
  );
  const isFirst = invoice && listInvoiceCharges(records, invoice.id).find(({ paid }) => paid)?.id === id;
  return [...refunds, ...(isFirst ? listCreditNotes(records, invoice.id) : [])];
}

/** Computes the part of the tax that a payment contains. The parts of all payments of an invoice are its tax. */
function computeTax(
  records: AccountObjects,
  { charge, invoice, purchaseId }: { charge: Stripe.Charge; invoice: Stripe.Invoice | undefined; purchaseId: string },
): number {
  if (invoice === undefined) return findSession(records, purchaseId)?.total_details?.amount_tax ?? 0;
  const tax = sum((invoice.total_taxes ?? []).map(({ amount }) => amount));
  const charges = listInvoiceCharges(records, invoice.id).filter(({ paid }) => paid);
  const sumUntil = (end: number): number => sum(charges.slice(0, end).map(({ amount }) => amount));
  const index = charges.findIndex(({ id }) => id === charge.id);
  const toTax = (amount: number): number => (invoice.total <= 0 ? 0 : Math.round((tax * amount) / invoice.total));
  return toTax(sumUntil(index + 1)) - toTax(sumUntil(index));
}

const listSoldProducts = (records: AccountObjects, purchaseId: string): string[] =>
  (records.lineItems.get(findSession(records, purchaseId)?.id ?? '') ?? []).map(({ price }) => getId(price?.product));

const findSession = ({ objects }: AccountObjects, intent: string): Stripe.Checkout.Session | undefined =>
  [...objects['checkout/sessions'].values()].find(({ payment_intent }) => getId(payment_intent) === intent);

const findCharge = ({ objects }: AccountObjects, { payment }: Stripe.InvoicePayment): Stripe.Charge | undefined =>
  objects.charges.get(getId(objects.payment_intents.get(getId(payment.payment_intent))?.latest_charge));

/** Returns the time of the first failed attempt. A debit that fails days later has that date in the balance. */
const findFirstFailure = ({ objects }: AccountObjects, { payment_intent }: Stripe.Charge): number =>
  Math.min(
    ...[...objects.charges.values()]
      .filter((charge) => charge.status === 'failed' && getId(charge.payment_intent) === getId(payment_intent))
      .map((charge) => objects.balance_transactions.get(getId(charge.failure_balance_transaction)) ?? charge)
      .map(({ created }) => created),
  );

const formatSeconds = (seconds: number): string => formatTime(seconds * secondMs);
