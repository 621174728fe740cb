import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { generateId } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';
import { buildTax } from './invoice-lines.ts';

/** Creates a customer. */
export const buildCustomer = (
  at: number,
  {
    livemode,
    email = null,
    metadata = {},
    name = null,
    country,
  }: { livemode: boolean; email?: string | null; name?: string | null; metadata?: Stripe.Metadata; country?: string },
): Stripe.Customer => ({
  id: generateId('cus', 14),
  object: 'customer',
  address: country === undefined ? null : buildAddress(country),
  balance: 0,
  created: toSeconds(at),
  currency: null,
  default_source: null,
  delinquent: false,
  description: null,
  discount: null,
  email,
  invoice_prefix: generateId('X', 8).slice(2).toUpperCase(),
  invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
  livemode,
  metadata,
  name,
  next_invoice_sequence: 1,
  phone: null,
  preferred_locales: [],
  shipping: null,
  tax_exempt: 'none',
  test_clock: null,
});

/** Creates the address of a customer who entered only the country. */
export const buildAddress = (country: string): Stripe.Address => ({
  city: null,
  country,
  line1: null,
  line2: null,
  postal_code: null,
  state: null,
});

interface SessionInput {
  readonly mode: Stripe.Checkout.Session.Mode;
  readonly livemode: boolean;
  readonly lines: readonly Stripe.LineItem[];
  readonly customer: string | null;
  readonly clientReferenceId: string | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly metadata: Stripe.Metadata;
  readonly customerCreation: 'always' | 'if_required' | null;
  /** The checkout of a one-time purchase creates an invoice when it is paid. */
  readonly invoiceCreation?: boolean;
}

/**
 * Creates an open checkout session. It expires after 24 h.
 *
 * @see https://docs.stripe.com/api/checkout/sessions/object
 */
export function buildSession(at: number, input: SessionInput, toUrl: (id: string) => string): Stripe.Checkout.Session {
  const { livemode, lines, mode } = input;
  const id = generateId(livemode ? 'cs_live' : 'cs_test', 58);
  const sum = (member: 'amount_subtotal' | 'amount_tax' | 'amount_total'): number =>
    lines.reduce((total, line) => total + line[member], 0);
  return {
    ...unsetFields,
    id,
    object: 'checkout.session',
    amount_subtotal: sum('amount_subtotal'),
    amount_total: sum('amount_total'),
    cancel_url: input.cancelUrl,
    client_reference_id: input.clientReferenceId,
    created: toSeconds(at),
    currency: lines[0]?.currency ?? null,
    customer: input.customer,
    customer_creation:
      mode === 'payment' && input.customer === null
        ? (input.customerCreation ?? 'if_required')
        : input.customerCreation,
    expires_at: toSeconds(at + dayMs),
    invoice_creation: mode === 'payment' ? { ...invoiceCreation, enabled: input.invoiceCreation === true } : null,
    livemode,
    metadata: input.metadata,
    mode,
    payment_status: 'unpaid',
    status: 'open',
    success_url: input.successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: sum('amount_tax') },
    url: toUrl(id),
  };
}

const invoiceCreation: Stripe.Checkout.Session.InvoiceCreation = {
  enabled: false,
  invoice_data: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: null,
    metadata: null,
    rendering_options: null,
  },
};

const unsetFields = {
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer_account: null,
  customer_details: null,
  customer_email: null,
  discounts: [],
  integration_identifier: null,
  invoice: null,
  locale: null,
  managed_payments: null,
  origin_context: null,
  payment_intent: null,
  payment_link: null,
  payment_method_collection: 'always',
  payment_method_configuration_details: null,
  payment_method_options: {},
  payment_method_types: ['card'],
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  submit_type: null,
  subscription: null,
  ui_mode: 'hosted_page',
  wallet_options: null,
} satisfies Partial<Stripe.Checkout.Session>;

interface LineItemInput {
  readonly quantity: number;
  readonly description: string;
  /** A trial makes the first period free. */
  readonly isTrial?: boolean;
  readonly taxRate?: Stripe.TaxRate | undefined;
}

/** Creates the line item of a checkout session. */
export function buildLineItem(price: Stripe.Price, input: LineItemInput): Stripe.LineItem {
  const { quantity, description, isTrial = false, taxRate } = input;
  const isFree = price.recurring !== null && (isTrial || price.recurring.usage_type === 'metered');
  const subtotal = isFree ? 0 : (price.unit_amount ?? 0) * quantity;
  const tax = taxRate === undefined ? 0 : buildTax(taxRate, subtotal).amount;
  return {
    id: generateId('li'),
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: subtotal,
    amount_tax: tax,
    amount_total: subtotal + tax,
    currency: price.currency,
    description,
    metadata: {},
    price,
    quantity,
  };
}
