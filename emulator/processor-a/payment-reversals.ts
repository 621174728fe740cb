import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import { getId, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent, listInvoiceCharges, listInvoices, requirePossible } from './account-state.ts';
import { buildDispute, buildRefund } from './reversal-objects.ts';

interface ReversalInput {
  readonly purchaseId: string;
  readonly at: number;
  readonly details: ActionBody;
}

/** Refunds the remaining amount of a charge. */
export function refundPurchase(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = requireReversibleCharge(state, purchaseId, details);
  refundCharge(state, charge, { amount: charge.amount - charge.amount_refunded, purchaseId, at });
  return purchaseId;
}

/**
 * Refunds a charge fully or partially.
 *
 * @see https://docs.stripe.com/api/refunds/object
 */
export function refundCharge(
  state: AccountState,
  charge: Stripe.Charge,
  { amount, purchaseId, at }: { amount: number; purchaseId: string; at: number },
): Stripe.Refund {
  const refund = saveObject(state.records, 'refunds', buildRefund(charge, amount, at));
  const amount_refunded = charge.amount_refunded + amount;
  const refundedCharge = saveObject(state.records, 'charges', {
    ...charge,
    amount_refunded,
    refunded: amount_refunded === charge.amount,
  });
  emitEvent(state, 'refund.created', { purchaseId, at, object: refund });
  emitEvent(state, 'charge.refunded', { purchaseId, at, object: refundedCharge, before: charge });
  return refund;
}

/** Creates a dispute that the customer wins. */
export function loseDispute(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = requireReversibleCharge(state, purchaseId, details);
  const opened = buildDispute(charge, at);
  const lost = saveObject(state.records, 'disputes', { ...opened, status: 'lost' });
  saveObject(state.records, 'charges', { ...charge, disputed: true });
  emitEvent(state, 'charge.dispute.created', { purchaseId, at, object: opened });
  emitEvent(state, 'charge.dispute.funds_withdrawn', { purchaseId, at, object: opened });
  emitEvent(state, 'charge.dispute.closed', { purchaseId, at, object: lost });
  return purchaseId;
}

function requireReversibleCharge(
  { records }: AccountState,
  purchaseId: string,
  { transactionId }: ActionBody,
): Stripe.Charge {
  const charges = listCharges(records, purchaseId).filter(({ paid }) => paid);
  const charge =
    transactionId === undefined
      ? charges.at(-1)
      : (charges.find(({ id }) => id === transactionId) ??
        listInvoiceCharges(records, transactionId).find(({ paid }) => paid));
  requirePossible(charge !== undefined, purchaseId, 'does not have a paid charge');
  requirePossible(!charge.refunded && !charge.disputed, purchaseId, `has a reversed charge ${charge.id}`);
  return charge;
}

/** Lists the charges of a purchase, oldest first. */
export function listCharges(records: AccountState['records'], purchaseId: string): Stripe.Charge[] {
  if (records.objects.subscriptions.has(purchaseId)) {
    return listInvoices(records, purchaseId).flatMap(({ id }) => listInvoiceCharges(records, id));
  }
  return [...records.objects.charges.values()].filter(({ payment_intent }) => getId(payment_intent) === purchaseId);
}
