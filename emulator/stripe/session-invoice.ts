import type Stripe from 'stripe';
import { generateId, getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { buildInvoiceItemLine } from './invoice-lines.ts';
import { buildInvoice, buildInvoicePayment } from './invoice-objects.ts';

/**
 * Creates the invoice of a paid one-time checkout that has `invoice_creation`. Returns the id of the invoice, or null
 * if the checkout does not have one.
 *
 * @see https://docs.stripe.com/payments/checkout/receipts#paid-invoices
 */
export function invoiceSession(
  state: AccountState,
  session: Pick<Stripe.Checkout.Session, 'id' | 'invoice_creation'>,
  { intent, customer, at }: { intent: string; customer: string | null; at: number },
): string | null {
  const { records } = state;
  if (session.invoice_creation?.enabled !== true) return null;
  const taxRate = records.sessionOptions.get(session.id)?.taxRate;
  const draft = buildInvoice(generateId('in'), {
    at,
    subscription: {
      id: '',
      metadata: {},
      daysUntilDue: null,
      taxRates: taxRate === undefined ? [] : [getObject(records, 'tax_rates', taxRate)],
    },
    customer: customer ?? '',
    reason: 'manual',
    lines: (records.lineItems.get(session.id) ?? []).flatMap(({ price, quantity }) =>
      price ? [buildInvoiceItemLine(price, { quantity: quantity ?? 1, at })] : [],
    ),
    outcome: 'paid',
    address: records.objects.customers.get(getId(customer))?.address ?? null,
    startingBalance: 0,
  });
  const lines = draft.lines.data.map((line) => ({ ...line, parent: null, subscription: null }));
  const object = saveObject(records, 'invoices', {
    ...draft,
    parent: null,
    lines: { ...draft.lines, data: lines },
  });
  saveObject(records, 'invoice_payments', buildInvoicePayment(object, intent, at));
  emitEvent(state, 'invoice.paid', { purchaseId: intent, at, object });
  return object.id;
}
