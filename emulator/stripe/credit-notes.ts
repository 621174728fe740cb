import type Stripe from 'stripe';
import { sum } from '../sum.ts';
import { type AccountObjects, generateId, getId, saveObject, toApiList } from './account-objects.ts';
import {
  type AccountState,
  emitEvent,
  listInvoiceCharges,
  listInvoicePayments,
  listPurchaseInvoices,
  requirePossible,
  saveSubscription,
} from './account-state.ts';
import { toPaidInvoice } from './billing.ts';
import { toSeconds } from './catalogue.ts';
import { formatAmount, toMinorUnits } from './money.ts';
import { requireOpenInvoice } from './open-invoices.ts';
import type { ReversalInput } from './payment-reversals.ts';
import { type SubscriptionTransition, withoutDebt } from './subscription-status.ts';

/**
 * Issues a credit note for a part of the latest paid invoice, or for the rest of it, that the customer gets back
 * outside of Stripe.
 *
 * @see https://docs.stripe.com/api/credit_notes/create
 */
export function refundOutside(
  state: AccountState,
  { purchaseId, at, details: { amountMicros } }: ReversalInput,
): string {
  const { records } = state;
  const invoice = listPurchaseInvoices(records, purchaseId).findLast(({ status, amount_paid }) => {
    return status === 'paid' && amount_paid > 0;
  });
  requirePossible(invoice !== undefined, purchaseId, 'does not have a paid invoice');
  const { currency, amount_paid, post_payment_credit_notes_amount: credited } = invoice;
  const refunded = sum(listInvoiceCharges(records, invoice.id).map(({ amount_refunded }) => amount_refunded));
  const remaining = amount_paid - refunded - credited;
  const amount = amountMicros === undefined ? remaining : toMinorUnits(amountMicros, currency, 'amountMicros');
  const problem = `has only ${formatAmount(remaining, currency)} to credit`;
  requirePossible(amount > 0 && amount <= remaining, purchaseId, problem);
  const object = saveObject(records, 'credit_notes', buildCreditNote(invoice, amount, at));
  saveObject(records, 'invoices', { ...invoice, post_payment_credit_notes_amount: credited + amount });
  emitEvent(state, 'credit_note.created', { purchaseId, at, object });
  return purchaseId;
}

/**
 * Issues a credit note that forgives a part of an open invoice, or all of it, which pays the invoice.
 *
 * @see https://docs.stripe.com/api/credit_notes/create
 */
export const forgive: SubscriptionTransition = (state, subscription, at, details) => {
  const { records } = state;
  const { id: purchaseId, status, latest_invoice } = subscription;
  const open = requireOpenInvoice(state, purchaseId, details);
  const { currency, amount_due: due, pre_payment_credit_notes_amount: credited } = open;
  const { amountMicros } = details;
  const amount = amountMicros === undefined ? due : toMinorUnits(amountMicros, currency, 'amountMicros');
  requirePossible(amount <= due, purchaseId, `has only ${formatAmount(due, currency)} to forgive`);
  const parts = {
    type: 'pre_payment',
    out_of_band_amount: null,
    pre_payment_amount: amount,
    post_payment_amount: 0,
  } as const;
  const object = saveObject(records, 'credit_notes', { ...buildCreditNote(open, amount, at), ...parts });
  const rest = due - amount;
  const reduced = {
    ...open,
    amount_due: rest,
    amount_remaining: rest,
    pre_payment_credit_notes_amount: credited + amount,
  };
  const invoice = saveObject(records, 'invoices', rest === 0 ? toPaidInvoice(reduced, at) : reduced);
  emitEvent(state, 'credit_note.created', { purchaseId, at, object });
  if (rest > 0) return purchaseId;
  for (const payment of listInvoicePayments(records, open.id))
    saveObject(records, 'invoice_payments', { ...payment, status: 'canceled' });
  emitEvent(state, 'invoice.paid', { purchaseId, at, object: invoice });
  const isReactivated = (status === 'past_due' || status === 'unpaid') && latest_invoice === open.id;
  return isReactivated ? saveSubscription(state, withoutDebt(subscription, at), at) : purchaseId;
};

/** Lists the credit notes of an invoice, oldest first. */
export const listCreditNotes = ({ objects }: AccountObjects, invoice: string): Stripe.CreditNote[] =>
  [...objects.credit_notes.values()].filter((note) => getId(note.invoice) === invoice);

/** @see https://docs.stripe.com/api/credit_notes/object */
const buildCreditNote = (invoice: Stripe.Invoice, amount: number, at: number): Stripe.CreditNote => {
  const id = generateId('cn');
  return {
    id,
    object: 'credit_note',
    amount,
    amount_shipping: 0,
    created: toSeconds(at),
    currency: invoice.currency,
    customer: getId(invoice.customer),
    customer_account: null,
    customer_balance_transaction: null,
    discount_amount: 0,
    discount_amounts: [],
    effective_at: toSeconds(at),
    invoice: invoice.id,
    lines: toApiList(`/v1/credit_notes/${id}/lines`, []),
    livemode: invoice.livemode,
    memo: null,
    metadata: {},
    number: `${invoice.number}-CN-01`,
    out_of_band_amount: amount,
    pdf: `https://pay.stripe.com/credit_notes/${id}/pdf`,
    post_payment_amount: amount,
    pre_payment_amount: 0,
    pretax_credit_amounts: [],
    reason: null,
    refunds: [],
    shipping_cost: null,
    status: 'issued',
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
    total_taxes: [],
    type: 'post_payment',
    voided_at: null,
  };
};
