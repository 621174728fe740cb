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

/** All money of a charge goes back to the customer, whom the application pays. */
export function refundPurchase(shop: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = chargeToReturn(shop, purchaseId, details);
  refundCharge(shop, charge, { amount: charge.amount - charge.amount_refunded, purchaseId, at });
  return purchaseId;
}

/** A refund of a charge, whole or in part. */
export function refundCharge(
  shop: AccountState,
  charge: Stripe.Charge,
  { amount, purchaseId, at }: { amount: number; purchaseId: string; at: number },
): Stripe.Refund {
  const made = saveObject(shop.books, 'refunds', buildRefund(charge, amount, at));
  const amount_refunded = charge.amount_refunded + amount;
  const refunded = saveObject(shop.books, 'charges', {
    ...charge,
    amount_refunded,
    refunded: amount_refunded === charge.amount,
  });
  emitEvent(shop, 'refund.created', { purchaseId, at, object: made });
  emitEvent(shop, 'charge.refunded', { purchaseId, at, object: refunded, before: charge });
  return made;
}

/** The customer's bank takes the money back, after a dispute that the application lost. */
export function loseDispute(shop: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = chargeToReturn(shop, purchaseId, details);
  const begun = buildDispute(charge, at);
  const lost = saveObject(shop.books, 'disputes', { ...begun, status: 'lost' });
  saveObject(shop.books, 'charges', { ...charge, disputed: true });
  emitEvent(shop, 'charge.dispute.created', { purchaseId, at, object: begun });
  emitEvent(shop, 'charge.dispute.funds_withdrawn', { purchaseId, at, object: begun });
  emitEvent(shop, 'charge.dispute.closed', { purchaseId, at, object: lost });
  return purchaseId;
}

function chargeToReturn({ books }: AccountState, purchaseId: string, { transactionId }: ActionBody): Stripe.Charge {
  const charges = listCharges(books, purchaseId).filter(({ paid }) => paid);
  const charge =
    transactionId === undefined
      ? charges.at(-1)
      : (charges.find(({ id }) => id === transactionId) ??
        listInvoiceCharges(books, transactionId).find(({ paid }) => paid));
  requirePossible(charge !== undefined, purchaseId, 'was not paid, so no money can go back');
  requirePossible(!charge.refunded && !charge.disputed, purchaseId, `gave the money of ${charge.id} back already`);
  return charge;
}

/** The charges of a purchase, oldest first. */
export function listCharges(books: AccountState['books'], purchaseId: string): Stripe.Charge[] {
  if (books.objects.subscriptions.has(purchaseId)) {
    return listInvoices(books, purchaseId).flatMap(({ id }) => listInvoiceCharges(books, id));
  }
  return [...books.objects.charges.values()].filter(({ payment_intent }) => getId(payment_intent) === purchaseId);
}
