import type Stripe from 'stripe';
import { getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent, requirePossible } from './account-state.ts';
import { paymentEvents } from './billing.ts';
import { toSeconds } from './catalogue.ts';
import { formatAmount, toMinorUnits } from './money.ts';
import { toChargeStatus, toIntentStatus } from './payment-objects.ts';
import type { ReversalInput } from './payment-reversals.ts';
import { buildRefund } from './reversal-objects.ts';

/** Finds the authorized payment of a purchase, which is not captured yet. */
export function findAuthorization({ records }: AccountState, purchaseId: string): Stripe.PaymentIntent | undefined {
  const intent = records.objects.payment_intents.get(purchaseId);
  return intent?.status === 'requires_capture' ? intent : undefined;
}

/**
 * Captures an authorized payment, or a part of it. The session stays unpaid. Stripe releases the rest as the first
 * refund of the charge, without an event.
 *
 * @see https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
 * @see https://github.com/solidusio/solidus_stripe/pull/268
 */
export function capturePayment(
  state: AccountState,
  intent: Stripe.PaymentIntent,
  { purchaseId, at, details: { amountMicros } }: ReversalInput,
): string {
  const charge = getObject(state.records, 'charges', getId(intent.latest_charge));
  const { amount: authorized, currency } = charge;
  const amount = amountMicros === undefined ? authorized : toMinorUnits(amountMicros, currency, 'amountMicros');
  requirePossible(amount <= authorized, purchaseId, `has only ${formatAmount(authorized, currency)} to capture`);
  const released = authorized - amount;
  if (released > 0) saveRelease(state, charge, { amount: released, at });
  const status = { ...toChargeStatus('succeeded', amount), amount_refunded: released };
  const captured = saveObject(state.records, 'charges', { ...charge, ...status });
  emitEvent(state, 'charge.captured', { purchaseId, at, object: captured });
  state.records.confirmedAt.set(charge.id, at);
  const object = saveObject(state.records, 'payment_intents', {
    ...intent,
    ...toIntentStatus('succeeded', amount, charge.id),
    amount_capturable: 0,
  });
  emitEvent(state, paymentEvents.succeeded, { purchaseId, at, object });
  return purchaseId;
}

/** Cancels an authorized payment: all of it is released. */
export function releasePayment(
  state: AccountState,
  intent: Stripe.PaymentIntent,
  { purchaseId, at }: Pick<ReversalInput, 'purchaseId' | 'at'>,
): string {
  const charge = getObject(state.records, 'charges', getId(intent.latest_charge));
  const { amount } = charge;
  saveRelease(state, charge, { amount, at });
  const released = saveObject(state.records, 'charges', { ...charge, refunded: true, amount_refunded: amount });
  emitEvent(state, 'charge.refunded', { purchaseId, at, object: released, before: charge });
  const canceled = { status: 'canceled', canceled_at: toSeconds(at), amount_capturable: 0 } as const;
  const object = saveObject(state.records, 'payment_intents', { ...intent, ...canceled });
  emitEvent(state, 'payment_intent.canceled', { purchaseId, at, object });
  return purchaseId;
}

/** Saves the refund of what was not captured. It has no reason, unlike the refunds of a payment. */
const saveRelease = (
  { records }: AccountState,
  charge: Stripe.Charge,
  { amount, at }: { readonly amount: number; readonly at: number },
): Stripe.Refund => saveObject(records, 'refunds', { ...buildRefund(charge, amount, at), reason: null });
