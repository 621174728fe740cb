import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { Invoice } from './payloads.ts';
import { type ChargeIndex, type ChargeReversals, type PaymentReversals, splitReversals } from './payment-reversals.ts';

/**
 * Returns the reversals of an invoice from the reversals of its payments. A payment that paid a part of the invoice
 * returns that part: only the reversals of all payments return the invoice, when the last one is returned.
 *
 * @see https://docs.stripe.com/changelog/basil/2025-03-31/add-support-for-multiple-partial-payments-on-invoices
 */
export function findInvoiceReversals(
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

/** Lists the ids of the charges and payment intents of an invoice. */
export const listPaymentIds = ({ payments }: Invoice): string[] =>
  payments.data.flatMap(({ payment }) => [payment.charge, payment.payment_intent]).filter((id) => id !== null);
