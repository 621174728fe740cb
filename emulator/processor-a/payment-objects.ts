import type Stripe from 'stripe';
import { generateId } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';

/** A payment that a customer owes. */
export interface PaymentInput {
  readonly at: number;
  readonly livemode: boolean;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly metadata: Stripe.Metadata;
}

/**
 * Creates a succeeded or failed payment intent.
 *
 * @see https://docs.stripe.com/api/payment_intents/object
 */
export function buildPaymentIntent(
  input: PaymentInput,
  id: string,
  charge: string,
  isPaid: boolean,
): Stripe.PaymentIntent {
  const { at, livemode, amount, currency, customer, metadata } = input;
  return {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: isPaid ? amount : 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic',
    client_secret: `${id}_secret_${generateId('x', 24).slice(2)}`,
    confirmation_method: 'automatic',
    created: toSeconds(at),
    currency,
    customer,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: isPaid ? null : buildPaymentError(charge),
    latest_charge: charge,
    livemode,
    managed_payments: null,
    metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: generateId('pm'),
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: isPaid ? 'succeeded' : 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  };
}

const buildPaymentError = (charge: string): Stripe.PaymentIntent.LastPaymentError => ({
  type: 'card_error',
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
  charge,
});

/** Creates the charge of a payment intent. */
export function buildCharge(input: PaymentInput, id: string, intent: string, isPaid: boolean): Stripe.Charge {
  const { at, livemode, amount, currency, customer, metadata } = input;
  return {
    id,
    object: 'charge',
    amount,
    amount_captured: isPaid ? amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: isPaid ? generateId('txn') : null,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: 'EMULATOR',
    captured: isPaid,
    created: toSeconds(at),
    currency,
    customer,
    description: null,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: isPaid ? null : 'card_declined',
    failure_message: isPaid ? null : 'Your card was declined.',
    fraud_details: {},
    livemode,
    metadata,
    on_behalf_of: null,
    outcome: null,
    paid: isPaid,
    payment_intent: intent,
    payment_method: generateId('pm'),
    payment_method_details: null,
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: isPaid ? 'succeeded' : 'failed',
    transfer_data: null,
    transfer_group: null,
  };
}
