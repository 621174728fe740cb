import { splitAmount } from '../../foundation/split-amount.ts';
import { selectCountry } from './buyer-country.ts';
import { findInvoiceReversals, listPaymentIds } from './invoice-reversals.ts';
import type { Invoice, InvoiceOwner } from './payloads.ts';
import type { FailureDates } from './payment-failures.ts';
import { type ChargeIndex, type PaymentReversals, splitReversals } from './payment-reversals.ts';
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

/**
 * Splits the paid amount of an invoice by the totals of its items. It can differ from their sum, because of credits and
 * customer balances. Items that are only credited do not have a share. Other invoice items belong to the first item.
 */
export function splitInvoice(invoice: Invoice, items: readonly BilledItem[], charges: ChargeIndex): InvoiceShare[] {
  const { data } = invoice.lines;
  const amountPaid = invoice.amount_paid ?? 0;
  const isOf = (item: BilledItem, line: Line): boolean => item.itemIds.includes(getItemId(line) ?? '');
  const otherLines = data.filter((line) => !items.some((item) => isOf(item, line)));
  const charged = items.filter((item) => data.some((line) => isOf(item, line) && !isCredit(line)));
  const isOfMain = charged.length === 0 && (amountPaid > 0 || otherLines.length > 0);
  const shares = (isOfMain ? items.slice(0, 1) : charged).map((item, index) => ({
    item,
    lines: data.filter((line) => isOf(item, line) || (index === 0 && otherLines.includes(line))),
  }));
  const totals = shares.map(({ lines }) => sumTotals(lines));
  const amounts = splitAmount(amountPaid, totals);
  const taxes = splitTax(invoice, shares, sumTotals(data));
  const reversals = findInvoiceReversals(invoice, charges);
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
  const paidTax = total > paid ? Math.round((tax * paid) / total) : tax;
  const weights = shares.map(({ lines }) => sum(lines.map((line) => sumTaxes(line))));
  return splitAmount(paidTax, sum(weights) > 0 ? weights : shares.map(({ lines }) => sumTotals(lines)));
}

/** Sums the totals of lines after discounts and with the taxes that their amount does not include. */
export const sumTotals = (lines: readonly Line[]): number =>
  sum(lines.map((line) => getNetAmount(line) + sumTaxes(line, 'exclusive')));

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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
