import { sum } from '../../foundation/collections.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { splitAmount } from '../../foundation/split-amount.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { PartialRefund } from '../../purchases/transaction.ts';
import { selectCountry } from './buyer-country.ts';
import { toMicros, toMillis } from './money.ts';
import type { CreditNote, Invoice, InvoiceOwner } from './payloads.ts';
import type { FailureDates } from './payment-failures.ts';
import { type ChargeIndex, type ChargeReversals, type PaymentReversals, splitReversals } from './payment-reversals.ts';
import { type BilledItem, getItemId, isCredit, type Line } from './subscription-items.ts';

/** The part of an invoice that bills one item. */
export interface InvoiceShare {
  readonly invoice: Invoice;
  readonly item: BilledItem;
  /** Lines of the item. The first item of the invoice also has the lines that bill no item. */
  readonly lines: readonly Line[];
  /** Paid amount in the currency's smallest unit. */
  readonly amount: number;
  /** Tax within the amount. Undefined if the invoice does not name one. */
  readonly tax: number | undefined;
  readonly reversals: PaymentReversals | undefined;
  /** Failed attempts to pay the invoice. */
  readonly failures: FailureDates | undefined;
  /** Country of the customer, in two letters. */
  readonly country: string | undefined;
}

/** Returns the id of the subscription that an invoice bills. */
export const getSubscriptionId = ({ parent }: InvoiceOwner): string | undefined =>
  parent?.subscription_details?.subscription ?? undefined;

/** Sorts invoices, oldest first. The lists of Stripe begin with the newest, also within a second. */
export const sortInvoices = (invoices: readonly Invoice[]): Invoice[] =>
  invoices.toReversed().sort((a, b) => a.created - b.created || getPaidAt(a) - getPaidAt(b));

export const isPaid = ({ status }: Invoice): boolean => status === 'paid';

/** Returns the payment time, or the creation time of an invoice that needed no payment, in epoch seconds. */
export const getPaidAt = ({ status_transitions, created, lines }: Invoice): number =>
  status_transitions?.paid_at ?? (created || lines.data[0]?.period.start) ?? 0;

/** What the account says about payments outside of the invoices, and when it was queried. */
interface PaymentFacts extends ChargeIndex {
  readonly now: EpochMillis;
}

/**
 * Splits the paid amount of an invoice by the totals of its items. It can differ from their sum, because of credits and
 * customer balances. Items that are only credited do not have a share. Other invoice items belong to the first item.
 */
export function splitInvoice(invoice: Invoice, items: readonly BilledItem[], charges: PaymentFacts): InvoiceShare[] {
  const { data } = invoice.lines;
  const amountPaid = invoice.amount_paid ?? 0;
  const bills = (item: BilledItem, line: Line): boolean => item.itemIds.includes(getItemId(line) ?? '');
  const otherLines = data.filter((line) => !items.some((item) => bills(item, line)));
  const charged = items.filter((item) => data.some((line) => bills(item, line) && !isCredit(line)));
  const onlyMainItem = charged.length === 0 && (amountPaid > 0 || otherLines.length > 0);
  const shares = (onlyMainItem ? items.slice(0, 1) : charged).map((item, index) => ({
    item,
    lines: data.filter((line) => bills(item, line) || (index === 0 && otherLines.includes(line))),
  }));
  const totals = shares.map(({ lines }) => sumTotals(lines));
  const amounts = splitAmount(amountPaid, totals);
  const taxes = splitTax(invoice, shares, sumTotals(data));
  const reversals = addOutsideRefunds(findPaymentReversals(invoice, charges), invoice, charges);
  const parts = reversals && splitReversals(reversals, amounts, invoice.currency);
  const paymentIds = listPaymentIds(invoice);
  const failures = paymentIds.flatMap((id) => charges.failures.get(id) ?? [])[0];
  const country = selectCountry(invoice.customer_address, charges.countries, paymentIds);
  return shares.map((share, index) => ({
    ...share,
    invoice,
    amount: amounts[index] ?? 0,
    tax: taxes?.[index],
    reversals: parts?.[index],
    failures,
    country,
  }));
}

/**
 * Splits the tax of an invoice by the taxes of its lines. A balance or a credit that pays a part of the total pays the
 * same part of the tax.
 *
 * @see https://docs.stripe.com/api/invoices/object#invoice_object-total_taxes
 */
function splitTax(
  { total_taxes, amount_paid }: Invoice,
  shares: readonly Pick<InvoiceShare, 'lines'>[],
  total: number,
): number[] | undefined {
  if (total_taxes.length === 0) return undefined;
  const tax = Math.max(0, sum(total_taxes.map(({ amount }) => amount)));
  const paid = amount_paid ?? 0;
  const paidTax = total > paid ? Math.round((tax * paid) / total) : Math.min(tax, paid);
  const weights = shares.map(({ lines }) => sum(lines.map((line) => sumTaxes(line))));
  return splitAmount(paidTax, sum(weights) > 0 ? weights : shares.map(({ lines }) => sumTotals(lines)));
}

/**
 * Sums the totals of lines after discounts and credit grants, with the taxes that their amount does not include.
 *
 * @see https://docs.stripe.com/billing/subscriptions/usage-based/billing-credits
 */
export const sumTotals = (lines: readonly Line[]): number =>
  sum(lines.map((line) => getNetAmount(line) - sumGrantedCredits(line) + sumTaxes(line, 'exclusive')));

const sumGrantedCredits = ({ pretax_credit_amounts: credits }: Line): number =>
  sum(credits.filter(({ type }) => type === 'credit_balance_transaction').map(({ amount }) => amount));

/** Returns the amount of a line after discounts, without the taxes that it does not include. */
export const getNetAmount = ({ amount, discount_amounts }: Line): number =>
  amount - sum(discount_amounts.map((part) => part.amount));

/** Sums the taxes of a line, or only the taxes that its amount includes or not. */
export const sumTaxes = ({ taxes }: Line, behavior?: 'exclusive' | 'inclusive'): number =>
  sum(
    taxes
      .filter((tax) => !behavior || (tax.tax_behavior === 'exclusive') === (behavior === 'exclusive'))
      .map(({ amount }) => amount),
  );

/**
 * Adds what was paid back outside of Stripe to the reversals of the payments of an invoice. Stripe lists the newest
 * credit note first. A refund that only a payment record reports has the date on which it was first seen.
 */
export function addOutsideRefunds(
  paymentReversals: PaymentReversals | undefined,
  invoice: Invoice,
  { creditNotes, paymentRecords, now }: Pick<PaymentFacts, 'creditNotes' | 'paymentRecords' | 'now'>,
): PaymentReversals | undefined {
  const noteRefunds = creditNotes
    .toReversed()
    .filter((note) => note.invoice === invoice.id)
    .flatMap((note) => toOutsideRefund(note, invoice.currency));
  const outside = [...noteRefunds, ...toRecordedRefund(invoice, noteRefunds, { paymentRecords, now })];
  if (outside.length === 0) return paymentReversals;
  const partialRefunds = [...(paymentReversals?.partialRefunds ?? []), ...outside].sort((a, b) => a.date - b.date);
  const final = partialRefunds.filter((refund) => refund.status === undefined && refund.amountMicros !== 0);
  const total = sum(final.map(({ amountMicros = 0 }) => amountMicros));
  const last = final.at(-1);
  const isReturned = total > 0 && total >= toMicros(invoice.amount_paid ?? 0, invoice.currency);
  if (paymentReversals?.refundedAt !== undefined || !isReturned || !last)
    return { ...paymentReversals, partialRefunds };
  return {
    end: paymentReversals?.end ?? { at: last.date, kind: 'refund' },
    refundedAt: last.date,
    ...(last.isSum && { refundSeenAt: last.date }),
    partialRefunds: partialRefunds.filter((refund) => refund !== last),
  };
}

/**
 * Returns the part of the refunds of payment records that no credit note of the invoice returns. A later credit note
 * can return the same refund: the sum of the rest replaces the former one.
 *
 * @see https://docs.stripe.com/api/payment-record/report-refund/report
 * @see https://docs.stripe.com/changelog/clover/2025-10-29/payment-records-updates
 */
function toRecordedRefund(
  invoice: Invoice,
  noteRefunds: readonly PartialRefund[],
  { paymentRecords, now }: Pick<PaymentFacts, 'paymentRecords' | 'now'>,
): PartialRefund[] {
  const parts = listPaidPayments(invoice).map(({ payment, amount_paid }) => {
    const record = paymentRecords.find(({ id }) => id === payment.payment_record);
    const { value: total } = record?.amount ?? { value: 0 };
    return record && total > 0 ? (record.amount_refunded.value * (amount_paid ?? total)) / total : 0;
  });
  const refunded = toMicros(Math.round(sum(parts)), invoice.currency);
  if (refunded === 0) return [];
  const noted = noteRefunds.filter(({ status }) => status === undefined);
  const rest = refunded - sum(noted.map(({ amountMicros = 0 }) => amountMicros));
  const latestDate = noteRefunds.at(-1)?.date;
  const refund = { id: invoice.id, date: now, amountMicros: Math.max(0, rest), isSum: true as const };
  return [{ ...refund, ...omitUndefined({ latestDate }) }];
}

/**
 * Maps a credit note to the amount that the customer got back outside of Stripe. A refund in it is a refund of the
 * charge, and a credit to the balance pays a later invoice.
 *
 * @see https://docs.stripe.com/api/credit_notes/create
 * @see https://docs.stripe.com/revenue-recognition/examples/credit-notes
 */
function toOutsideRefund({ id, created, status, ...note }: CreditNote, currency: string): PartialRefund[] {
  const recordRefunds = note.refunds.filter(({ type }) => type === 'payment_record_refund');
  const amount = (note.out_of_band_amount ?? 0) + sum(recordRefunds.map(({ amount_refunded }) => amount_refunded));
  const refund = { id, date: toMillis(created), amountMicros: toMicros(amount, currency) };
  return amount > 0 ? [{ ...refund, ...(status === 'void' && { status: 'returned' }) }] : [];
}

/**
 * Returns the reversals of the payments of an invoice. A payment that paid a part of the invoice
 * returns that part: only the reversals of all payments return the invoice, when the last one is returned.
 *
 * @see https://docs.stripe.com/changelog/basil/2025-03-31/add-support-for-multiple-partial-payments-on-invoices
 */
function findPaymentReversals(
  invoice: Invoice,
  { reversals: index }: Pick<ChargeIndex, 'reversals'>,
): PaymentReversals | undefined {
  const all = listPaidPayments(invoice).map(({ payment: { charge, payment_intent }, amount_paid }) =>
    toPaidPart(index.get(charge ?? '') ?? index.get(payment_intent ?? ''), amount_paid, invoice.currency),
  );
  const known = all.filter((reversals) => reversals !== undefined);
  if (all.length <= 1 || known.length === 0) return known[0];
  const ends = known.flatMap(({ end }) => end ?? []);
  const dates = known.flatMap(({ refundedAt }) => refundedAt ?? []);
  const refundedAt = dates.length === all.length ? Math.max(...dates) : undefined;
  const last = known.findLast((reversals) => reversals.refundedAt === refundedAt && refundedAt !== undefined);
  return {
    ...(ends.length === all.length && { end: ends.reduce((a, b) => (b.at > a.at ? b : a)) }),
    ...omitUndefined({ refundedAt }),
    partialRefunds: known.flatMap((reversals) => (reversals === last ? reversals.partialRefunds : reversals.parts)),
  };
}

/** Returns the part of a charge's reversals that belongs to an invoice of which the charge paid an amount. */
function toPaidPart(
  reversals: ChargeReversals | undefined,
  amount: number | null,
  currency: string,
): ChargeReversals | undefined {
  if (!reversals || amount === null || amount >= reversals.amount) return reversals;
  const amounts = [amount, reversals.amount - amount];
  const [part] = splitReversals(reversals, amounts, currency);
  const [parts] = splitReversals({ partialRefunds: reversals.parts }, amounts, currency);
  return part && parts && { ...part, parts: parts.partialRefunds, amount };
}

/** Lists the payments that paid the invoice or a part of it. */
const listPaidPayments = ({ payments }: Invoice): Invoice['payments']['data'] =>
  payments.data.filter(({ status }) => status !== 'open' && status !== 'canceled');

/** Returns when the first payment was made, in epoch seconds. Undefined if Stripe does not report it. */
export const getFirstPaidAt = (invoice: Invoice): number | undefined =>
  listPaidPayments(invoice)
    .flatMap(({ status_transitions }) => status_transitions?.paid_at ?? [])
    .sort((a, b) => a - b)[0];

/** Lists the ids of the charges and payment intents of an invoice. */
const listPaymentIds = ({ payments }: Invoice): string[] =>
  payments.data.flatMap(({ payment }) => [payment.charge, payment.payment_intent]).filter((id) => id !== null);
