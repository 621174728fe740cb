import type Stripe from 'stripe';
import { generateId } from './account-objects.ts';
import { toSeconds } from './catalogue.ts';

/** Creates a full or partial refund of a charge. */
export const buildRefund = (charge: Stripe.Charge, amount: number, at: number): Stripe.Refund => ({
  id: generateId('re'),
  object: 'refund',
  amount,
  balance_transaction: generateId('txn'),
  charge: charge.id,
  created: toSeconds(at),
  currency: charge.currency,
  customer: charge.customer,
  customer_account: null,
  destination_details: {
    card: { type: 'refund', reference_status: 'pending', reference_type: 'acquirer_reference_number' },
    type: 'card',
  },
  metadata: {},
  payment_intent: charge.payment_intent,
  payment_method: charge.payment_method,
  reason: 'requested_by_customer',
  receipt_number: null,
  source_transfer_reversal: null,
  status: 'succeeded',
  transfer_reversal: null,
});

/**
 * Creates a dispute that needs a response. Stripe withdraws the disputed amount immediately.
 *
 * @see https://docs.stripe.com/disputes/how-disputes-work
 */
export const buildDispute = (charge: Stripe.Charge, amount: number, at: number): Stripe.Dispute => ({
  id: generateId('dp'),
  object: 'dispute',
  amount,
  balance_transactions: [buildDisputeBalance(charge, -amount, at)],
  charge: charge.id,
  created: toSeconds(at),
  currency: charge.currency,
  enhanced_eligibility_types: [],
  evidence: emptyEvidence,
  evidence_details: {
    due_by: null,
    enhanced_eligibility: {},
    has_evidence: false,
    past_due: false,
    submission_count: 0,
    submission_method: 'manual',
  },
  intended_submission_method: 'manual',
  is_charge_refundable: false,
  livemode: charge.livemode,
  metadata: {},
  payment_intent: charge.payment_intent,
  payment_method_details: {
    card: { brand: 'visa', case_type: 'chargeback', network: 'visa', network_reason_code: '10.4' },
    type: 'card',
  },
  reason: 'fraudulent',
  status: 'needs_response',
});

/** Creates an inquiry, which has no balance transaction. Its charge can be refunded. */
export const buildInquiry = (charge: Stripe.Charge, at: number): Stripe.Dispute => ({
  ...buildDispute(charge, charge.amount - charge.amount_refunded, at),
  balance_transactions: [],
  is_charge_refundable: true,
  payment_method_details: {
    card: { brand: 'visa', case_type: 'inquiry', network: 'visa', network_reason_code: null },
    type: 'card',
  },
  status: 'warning_needs_response',
});

/** Creates the balance transaction of a withdrawal (negative amount) or of a reinstatement. */
export const buildDisputeBalance = (charge: Stripe.Charge, amount: number, at: number): Stripe.BalanceTransaction => ({
  id: generateId('txn'),
  object: 'balance_transaction',
  amount,
  available_on: toSeconds(at),
  balance_type: 'payments',
  created: toSeconds(at),
  currency: charge.currency,
  description: amount < 0 ? `Chargeback withdrawal for ${charge.id}` : `Chargeback reversal for ${charge.id}`,
  exchange_rate: null,
  fee: 0,
  fee_details: [],
  net: amount,
  reporting_category: amount < 0 ? 'dispute' : 'dispute_reversal',
  source: charge.id,
  status: 'available',
  type: 'adjustment',
});

/**
 * Creates the balance transaction of a debit that failed days after its creation.
 *
 * @see https://docs.stripe.com/api/charges/object#charge_object-failure_balance_transaction
 */
export const buildFailureBalance = (charge: Stripe.Charge, at: number): Stripe.BalanceTransaction => ({
  ...buildDisputeBalance(charge, -charge.amount, at),
  description: `Payment failure refund for ${charge.id}`,
  reporting_category: 'charge_failure',
  type: 'payment_failure_refund',
});

const emptyEvidence: Stripe.Dispute.Evidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};
