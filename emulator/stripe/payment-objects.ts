import type Stripe from 'stripe';
import { generateId } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';
import { buildAddress } from './session-objects.ts';

/** A payment that a customer owes. */
export interface PaymentInput {
  readonly at: number;
  readonly livemode: boolean;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly metadata: Stripe.Metadata;
  /** Country of the billing address. */
  readonly country: string | null;
}

/**
 * Status of a payment: `pending` while a bank confirms a delayed payment method, `authorized` before its capture by
 * hand, `unattempted` without a charge.
 */
export type PaymentStatus = 'succeeded' | 'pending' | 'authorized' | 'failed' | 'unattempted';

type ChargeStatus = Exclude<PaymentStatus, 'unattempted'>;

const intentStatuses = {
  succeeded: 'succeeded',
  pending: 'processing',
  authorized: 'requires_capture',
  failed: 'requires_payment_method',
  unattempted: 'requires_payment_method',
} as const;

/**
 * Creates a succeeded, pending or failed payment intent.
 *
 * @see https://docs.stripe.com/api/payment_intents/object
 */
export function buildPaymentIntent(
  input: PaymentInput,
  id: string,
  charge: string | null,
  status: PaymentStatus,
): Stripe.PaymentIntent {
  const { at, livemode, amount, currency, customer, metadata } = input;
  return {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount,
    amount_capturable: status === 'authorized' ? amount : 0,
    amount_details: { tip: {} },
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: status === 'authorized' ? 'manual' : 'automatic',
    client_secret: `${id}_secret_${generateId('x', 24).slice(2)}`,
    confirmation_method: 'automatic',
    created: toSeconds(at),
    currency,
    customer,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
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
    transfer_data: null,
    transfer_group: null,
    ...toIntentStatus(status, amount, charge),
  };
}

/** Returns the members of a payment intent that depend on the status of its payment. */
export const toIntentStatus = (
  status: PaymentStatus,
  amount: number,
  charge: string | null,
): Pick<Stripe.PaymentIntent, 'status' | 'amount_received' | 'last_payment_error'> => ({
  status: intentStatuses[status],
  amount_received: status === 'succeeded' ? amount : 0,
  last_payment_error: status === 'failed' && charge !== null ? buildPaymentError(charge) : null,
});

const buildPaymentError = (charge: string): Stripe.PaymentIntent.LastPaymentError => ({
  type: 'card_error',
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
  charge,
});

/** Creates the charge of a payment intent. */
export function buildCharge(input: PaymentInput, id: string, intent: string, status: ChargeStatus): Stripe.Charge {
  const { at, livemode, amount, currency, customer, metadata, country } = input;
  return {
    id,
    object: 'charge',
    amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    billing_details: {
      address: country === null ? null : buildAddress(country),
      email: null,
      name: null,
      phone: null,
      tax_id: null,
    },
    calculated_statement_descriptor: 'EMULATOR',
    created: toSeconds(at),
    currency,
    customer,
    description: null,
    disputed: false,
    failure_balance_transaction: null,
    fraud_details: {},
    livemode,
    metadata,
    on_behalf_of: null,
    outcome: null,
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
    transfer_data: null,
    transfer_group: null,
    ...toChargeStatus(status, amount),
  };
}

/** Returns the members of a charge that depend on its status. */
export function toChargeStatus(
  status: ChargeStatus,
  amount: number,
): Pick<
  Stripe.Charge,
  'status' | 'paid' | 'captured' | 'amount_captured' | 'balance_transaction' | 'failure_code' | 'failure_message'
> {
  const isPaid = status === 'succeeded';
  const hasFailed = status === 'failed';
  const isAuthorized = status === 'authorized';
  return {
    status: isAuthorized ? 'succeeded' : status,
    paid: isPaid || isAuthorized,
    captured: isPaid,
    amount_captured: isPaid ? amount : 0,
    balance_transaction: isPaid ? generateId('txn') : null,
    failure_code: hasFailed ? 'card_declined' : null,
    failure_message: hasFailed ? 'Your card was declined.' : null,
  };
}
