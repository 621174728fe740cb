import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { generateId, getId, toApiList } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';

export type BillingReason = 'subscription_create' | 'subscription_cycle' | 'subscription_update';

/** A line for a period of a price, or for a proration. */
export interface InvoiceLineInput {
  /** Id of the subscription item. */
  readonly item: string;
  readonly price: Stripe.Price;
  readonly amount: number;
  readonly quantity: number;
  readonly start: number;
  readonly end: number;
  readonly isProration: boolean;
}

interface InvoiceInput {
  readonly at: number;
  readonly subscription: { readonly id: string; readonly metadata: Stripe.Metadata };
  readonly customer: string;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineInput[];
  readonly isPaid: boolean;
  readonly address: Stripe.Address | null;
  /** Balance of the customer before the invoice: negative for a credit. */
  readonly startingBalance: number;
}

/**
 * Creates a paid or open invoice of a subscription. A credit of the customer reduces the amount due, and a negative
 * total is credited.
 *
 * @see https://docs.stripe.com/api/invoices/object
 * @see https://docs.stripe.com/billing/customer/balance
 */
export function buildInvoice(id: string, input: InvoiceInput): Stripe.Invoice {
  const { at, subscription, customer, reason, lines, isPaid, address, startingBalance } = input;
  const [{ price, start, end } = throwMissingLine()] = lines.slice(-1);
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  const balanced = total + startingBalance;
  const due = Math.max(0, balanced);
  return {
    ...unsetFields,
    id,
    object: 'invoice',
    amount_due: due,
    amount_paid: isPaid ? due : 0,
    amount_remaining: isPaid ? 0 : due,
    attempt_count: due > 0 ? 1 : 0,
    attempted: true,
    billing_reason: reason,
    created: toSeconds(at),
    currency: price.currency,
    customer,
    customer_address: address,
    effective_at: toSeconds(at),
    ending_balance: Math.min(0, balanced),
    lines: toApiList(
      `/v1/invoices/${id}/lines`,
      lines.map((line) => buildLine(id, line, subscription)),
    ),
    livemode: price.livemode,
    next_payment_attempt: isPaid ? null : toSeconds(at + 3 * dayMs),
    number: `${id.slice(-8).toUpperCase()}-0001`,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details',
    },
    period_end: toSeconds(reason === 'subscription_cycle' ? start : end),
    period_start: toSeconds(start),
    status: isPaid ? 'paid' : 'open',
    status_transitions: {
      finalized_at: toSeconds(at),
      marked_uncollectible_at: null,
      paid_at: isPaid ? toSeconds(at) : null,
      voided_at: null,
    },
    starting_balance: startingBalance,
    subtotal: total,
    subtotal_excluding_tax: total,
    total,
    total_excluding_tax: total,
  };
}

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
  collection_method: 'charge_automatically',
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
  due_date: null,
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
  total_taxes: [],
  webhooks_delivered_at: null,
} satisfies Partial<Stripe.Invoice>;

function buildLine(
  invoice: string,
  line: InvoiceLineInput,
  subscription: InvoiceInput['subscription'],
): Stripe.InvoiceLineItem {
  const { price, amount, quantity, start, end, isProration } = line;
  return {
    id: generateId('il'),
    object: 'line_item',
    amount,
    currency: price.currency,
    description: `${quantity} × ${getId(price.product)}`,
    discount_amounts: [],
    discountable: !isProration,
    discounts: [],
    invoice,
    livemode: price.livemode,
    metadata: subscription.metadata,
    parent: {
      invoice_item_details: null,
      rate_card_subscription_details: null,
      schedule_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: isProration,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: line.item,
      },
      type: 'subscription_item_details',
    } as Stripe.InvoiceLineItem['parent'],
    period: { start: toSeconds(start), end: toSeconds(end) },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: getId(price.product) },
      type: 'price_details',
      unit_amount_decimal: price.unit_amount_decimal,
    } as Stripe.InvoiceLineItem['pricing'],
    quantity,
    quantity_decimal: String(quantity) as unknown as Stripe.InvoiceLineItem['quantity_decimal'],
    subscription: subscription.id,
    subtotal: amount,
    taxes: [],
  };
}

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
