import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { generateId, toApiList } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';
import { buildLine, type InvoiceSubscription, sumTaxes } from './invoice-lines.ts';

export type BillingReason = 'subscription_create' | 'subscription_cycle' | 'subscription_update' | 'manual';

/**
 * Collection of an invoice: paid, failed, `processing` while a bank confirms a debit, `emailed` to the customer,
 * `draft`, or `void`.
 */
export type InvoiceOutcome = 'paid' | 'failed' | 'processing' | 'emailed' | 'draft' | 'void';

interface InvoiceInput {
  readonly at: number;
  readonly subscription: InvoiceSubscription;
  readonly customer: string;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineInput[];
  readonly outcome: InvoiceOutcome;
  readonly address: Stripe.Address | null;
  /** Balance of the customer before the invoice: negative for a credit. */
  readonly startingBalance: number;
}

/**
 * Creates an invoice of a subscription. A credit of the customer reduces the amount due, and a negative total is
 * credited.
 *
 * @see https://docs.stripe.com/api/invoices/object
 * @see https://docs.stripe.com/billing/customer/balance
 */
export function buildInvoice(id: string, input: InvoiceInput): Stripe.Invoice {
  const { at, subscription, customer, reason, address, startingBalance, outcome } = input;
  const [{ price, start, end } = throwMissingLine()] = input.lines.slice(-1);
  const lines = input.lines.map((line) => buildLine(id, line, subscription));
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0);
  const taxes = sumTaxes(lines);
  const total = subtotal + taxes.reduce((sum, { amount }) => sum + amount, 0);
  const balanced = total + startingBalance;
  const due = Math.max(0, balanced);
  const isPeriodOver = reason === 'subscription_cycle';
  return {
    ...unsetFields,
    ...toCollection(outcome, { at, due, daysUntilDue: subscription.daysUntilDue }),
    id,
    object: 'invoice',
    amount_due: due,
    billing_reason: reason,
    created: toSeconds(at),
    currency: price.currency,
    customer,
    customer_address: address,
    effective_at: outcome === 'draft' ? null : toSeconds(at),
    ending_balance: outcome === 'draft' ? null : Math.min(0, balanced),
    lines: toApiList(`/v1/invoices/${id}/lines`, lines),
    livemode: price.livemode,
    number: outcome === 'draft' ? null : `${id.slice(-8).toUpperCase()}-0001`,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details',
    },
    period_end: toSeconds(isPeriodOver ? start : end),
    period_start: toSeconds(start),
    starting_balance: startingBalance,
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_excluding_tax: subtotal,
    total_taxes: taxes,
  };
}

interface CollectionInput {
  readonly at: number;
  readonly due: number;
  readonly daysUntilDue: number | null;
}

/** Returns the members of an invoice that depend on its collection. Nothing is collected of a void invoice. */
function toCollection(outcome: InvoiceOutcome, { at, due, daysUntilDue }: CollectionInput) {
  const isPaid = outcome === 'paid';
  const isAttempted = isPaid || outcome === 'failed' || outcome === 'processing';
  const statuses = {
    paid: 'paid',
    failed: 'open',
    processing: 'open',
    emailed: 'open',
    draft: 'draft',
    void: 'void',
  } as const;
  return {
    amount_paid: isPaid ? due : 0,
    amount_remaining: isPaid ? 0 : due,
    attempt_count: isAttempted && due > 0 ? 1 : 0,
    attempted: isAttempted,
    collection_method: daysUntilDue === null ? ('charge_automatically' as const) : ('send_invoice' as const),
    due_date: daysUntilDue === null ? null : toSeconds(at + daysUntilDue * dayMs),
    next_payment_attempt: outcome === 'failed' ? toSeconds(at + retryDelayMs) : null,
    status: statuses[outcome],
    status_transitions: {
      finalized_at: outcome === 'draft' ? null : toSeconds(at),
      marked_uncollectible_at: null,
      paid_at: isPaid ? toSeconds(at) : null,
      voided_at: outcome === 'void' ? toSeconds(at) : null,
    },
  };
}

/** Time between a failed payment and its next attempt. */
export const retryDelayMs = 3 * dayMs;

const unsetFields = {
  account_country: 'US',
  account_name: null,
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  auto_advance: false,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  custom_fields: null,
  customer_account: null,
  customer_email: null,
  customer_name: null,
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  footer: null,
  from_invoice: null,
  hosted_invoice_url: null,
  invoice_pdf: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  metadata: {},
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  statement_descriptor: null,
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  webhooks_delivered_at: null,
} satisfies Partial<Stripe.Invoice>;

/** Creates the payment of an invoice by a payment intent. */
export const buildInvoicePayment = (invoice: Stripe.Invoice, intent: string, at: number): Stripe.InvoicePayment => ({
  id: generateId('inpay'),
  object: 'invoice_payment',
  amount_paid: invoice.status === 'paid' ? invoice.amount_due : null,
  amount_requested: invoice.amount_due,
  created: toSeconds(at),
  currency: invoice.currency,
  invoice: invoice.id,
  is_default: true,
  livemode: invoice.livemode,
  payment: { payment_intent: intent, type: 'payment_intent' },
  status: invoice.status === 'paid' ? 'paid' : 'open',
  status_transitions: { canceled_at: null, paid_at: invoice.status === 'paid' ? toSeconds(at) : null },
});

function throwMissingLine(): never {
  throw new Error('An invoice must have a line');
}
