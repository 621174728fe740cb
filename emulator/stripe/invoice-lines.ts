import type Stripe from 'stripe';
import { generateId, getId } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';

/** Creates the line of an invoice item that is billed once. */
export const buildInvoiceItemLine = (
  price: Stripe.Price,
  { quantity, at }: { quantity: number; at: number },
): InvoiceLineInput => ({
  item: undefined,
  price,
  quantity,
  start: at,
  end: at,
  amount: (price.unit_amount ?? 0) * quantity,
  isProration: false,
});

/** Members of a subscription that its invoices copy. */
export interface InvoiceSubscription {
  readonly id: string;
  readonly metadata: Stripe.Metadata;
  /** Null if payments are charged automatically. */
  readonly daysUntilDue: number | null;
  readonly taxRates: readonly Stripe.TaxRate[];
}

export const toInvoiceSubscription = (subscription: Stripe.Subscription): InvoiceSubscription => ({
  id: subscription.id,
  metadata: subscription.metadata,
  daysUntilDue: subscription.collection_method === 'send_invoice' ? subscription.days_until_due : null,
  taxRates: subscription.default_tax_rates ?? [],
});

/** Creates a line of an invoice with its taxes. */
export function buildLine(
  invoice: string,
  line: InvoiceLineInput,
  subscription: InvoiceSubscription,
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
    parent: buildLineParent(line, subscription.id),
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
    taxes: subscription.taxRates.map((rate) => buildTax(rate, amount)),
  };
}

/** @see https://docs.stripe.com/api/invoice-line-item/object */
function buildLineParent(
  { item, isProration }: InvoiceLineInput,
  subscription: string,
): Stripe.InvoiceLineItem['parent'] {
  const details =
    item === undefined
      ? {
          invoice_item_details: {
            invoice_item: generateId('ii'),
            proration: isProration,
            proration_details: null,
            subscription,
          },
          subscription_item_details: null,
          type: 'invoice_item_details',
        }
      : {
          invoice_item_details: null,
          subscription_item_details: {
            invoice_item: isProration ? generateId('ii') : null,
            proration: isProration,
            proration_details: { credited_items: null },
            subscription,
            subscription_item: item,
          },
          type: 'subscription_item_details',
        };
  const parent = { rate_card_subscription_details: null, schedule_details: null, ...details };
  return parent as Stripe.InvoiceLineItem['parent'];
}

/**
 * Computes an exclusive tax, which is added to an amount.
 *
 * @see https://docs.stripe.com/billing/taxes/tax-rates
 */
export const buildTax = (rate: Stripe.TaxRate, amount: number): Stripe.InvoiceLineItem.Tax => ({
  amount: Math.sign(amount) * Math.round((Math.abs(amount) * rate.percentage) / 100),
  tax_behavior: 'exclusive',
  tax_rate_details: { tax_rate: rate.id },
  taxability_reason: 'standard_rated',
  taxable_amount: amount,
  type: 'tax_rate_details',
});

/** Sums the taxes of lines by tax rate. */
export function sumTaxes(lines: readonly Stripe.InvoiceLineItem[]): Stripe.Invoice.TotalTax[] {
  const totals = new Map<string, Stripe.Invoice.TotalTax>();
  for (const tax of lines.flatMap(({ taxes }) => taxes ?? [])) {
    const rate = tax.tax_rate_details?.tax_rate ?? '';
    const { amount = 0, taxable_amount = 0 } = totals.get(rate) ?? {};
    totals.set(rate, {
      ...tax,
      amount: amount + tax.amount,
      taxable_amount: (taxable_amount ?? 0) + (tax.taxable_amount ?? 0),
    });
  }
  return [...totals.values()];
}
