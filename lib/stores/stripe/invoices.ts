import { splitAmount } from '../../shared/split-amount.ts';
import { selectCountry } from './buyer-country.ts';
import type { Invoice } from './payloads.ts';
import { type ChargeIndex, type PaymentReversals, splitReversals } from './payment-reversals.ts';
import { type BilledItem, getItemId, isCredit, type Line } from './subscription-items.ts';

/** The part of a paid invoice that bills one item. */
export interface InvoiceShare {
  readonly invoice: Invoice;
  readonly item: BilledItem;
  /** Lines of the item. The first item of the invoice also has the lines that bill no item. */
  readonly lines: readonly Line[];
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly reversals: PaymentReversals | undefined;
  /** Country of the customer, in two letters. */
  readonly country: string | undefined;
}

/** Returns the id of the subscription that an invoice bills. */
export const getSubscriptionId = ({ parent }: Invoice): string | undefined =>
  parent?.subscription_details?.subscription ?? undefined;

/** Returns the paid invoices, oldest first. */
export const filterPaidInvoices = (invoices: readonly Invoice[]): Invoice[] =>
  invoices
    .filter(({ status }) => status === 'paid')
    .sort((a, b) => a.created - b.created || getPaidAt(a) - getPaidAt(b));

/** Returns the payment time, or the creation time of an invoice that needed no payment, in epoch seconds. */
const getPaidAt = ({ status_transitions, created }: Invoice): number => status_transitions?.paid_at ?? created;

/**
 * Splits the paid amount of an invoice by the totals of its items. It can differ from their sum, because of credits and
 * customer balances. Items that are only credited do not have a share. Other invoice items belong to the first item.
 */
export function splitInvoice(
  invoice: Invoice,
  items: readonly BilledItem[],
  { reversals, countries }: ChargeIndex,
): InvoiceShare[] {
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
  const paymentIds = listPaymentIds(invoice);
  const paymentReversals = paymentIds.flatMap((id) => reversals.get(id) ?? [])[0];
  const country = selectCountry(invoice.customer_address, countries, paymentIds);
  const parts = paymentReversals && splitReversals(paymentReversals, amounts, invoice.currency);
  return shares.map((share, index) => ({
    ...share,
    invoice,
    amount: amounts[index] ?? 0,
    reversals: parts?.[index],
    country,
  }));
}

/** Sums the totals of lines after discounts and with the taxes that their amount does not include. */
const sumTotals = (lines: readonly Line[]): number =>
  lines.reduce((total, { amount, discount_amounts, taxes }) => {
    const discount = sum(discount_amounts.map((part) => part.amount));
    const tax = sum(taxes.map((part) => (part.tax_behavior === 'exclusive' ? part.amount : 0)));
    return total + amount - discount + tax;
  }, 0);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Whether an invoice renews an item. The invoice of a plan change does not. */
export const isRenewal = ({ invoice }: Pick<InvoiceShare, 'invoice'>): boolean =>
  invoice.billing_reason === 'subscription_cycle';

/** Lists the ids of the charges and payment intents that paid an invoice. */
const listPaymentIds = ({ payments }: Invoice): string[] =>
  payments.data.flatMap(({ payment }) => [payment.charge, payment.payment_intent]).filter((id) => id !== null);

/**
 * Finds the last line that is not a proration, or the last charge if all of them are prorations. A line of a period
 * after `periodEnd`, in epoch seconds, was billed in advance.
 *
 * @see https://docs.stripe.com/billing/subscriptions/prorations
 */
export function findMainLine({ lines }: Pick<InvoiceShare, 'lines'>, periodEnd = Infinity): Line | undefined {
  const started = lines.filter(({ period }) => period.start < periodEnd);
  const candidates = started.length > 0 ? started : lines;
  return (
    candidates.findLast((line) => !isProration(line)) ??
    candidates.findLast((line) => !isCredit(line)) ??
    candidates.at(-1)
  );
}

const isProration = ({ parent }: Line): boolean =>
  (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration === true;
