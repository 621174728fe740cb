import type Stripe from 'stripe';
import type { ActionDetails } from '../orders.ts';
import { enter, idOf } from './books.ts';
import { newDispute, newRefund } from './money-back-objects.ts';
import { chargesOfInvoice, demand, invoicesOf, type Shop, tellOf } from './shop.ts';

interface Given {
  readonly purchaseId: string;
  readonly at: number;
  readonly details: ActionDetails;
}

/** All money of a charge goes back to the customer, whom the application pays. */
export function refund(shop: Shop, { purchaseId, at, details }: Given): string {
  const charge = chargeToReturn(shop, purchaseId, details);
  refundCharge(shop, charge, { amount: charge.amount - charge.amount_refunded, purchaseId, at });
  return purchaseId;
}

/** A refund of a charge, whole or in part. */
export function refundCharge(
  shop: Shop,
  charge: Stripe.Charge,
  { amount, purchaseId, at }: { amount: number; purchaseId: string; at: number },
): Stripe.Refund {
  const made = enter(shop.books, 'refunds', newRefund(charge, amount, at));
  const amount_refunded = charge.amount_refunded + amount;
  const refunded = enter(shop.books, 'charges', {
    ...charge,
    amount_refunded,
    refunded: amount_refunded === charge.amount,
  });
  tellOf(shop, 'refund.created', { purchaseId, at, object: made });
  tellOf(shop, 'charge.refunded', { purchaseId, at, object: refunded, before: charge });
  return made;
}

/** The customer's bank takes the money back, after a dispute that the application lost. */
export function revoke(shop: Shop, { purchaseId, at, details }: Given): string {
  const charge = chargeToReturn(shop, purchaseId, details);
  const begun = newDispute(charge, at);
  const lost = enter(shop.books, 'disputes', { ...begun, status: 'lost' });
  enter(shop.books, 'charges', { ...charge, disputed: true });
  tellOf(shop, 'charge.dispute.created', { purchaseId, at, object: begun });
  tellOf(shop, 'charge.dispute.funds_withdrawn', { purchaseId, at, object: begun });
  tellOf(shop, 'charge.dispute.closed', { purchaseId, at, object: lost });
  return purchaseId;
}

function chargeToReturn({ books }: Shop, purchaseId: string, { transactionId }: ActionDetails): Stripe.Charge {
  const charges = chargesOf(books, purchaseId).filter(({ paid }) => paid);
  const charge =
    transactionId === undefined
      ? charges.at(-1)
      : (charges.find(({ id }) => id === transactionId) ??
        chargesOfInvoice(books, transactionId).find(({ paid }) => paid));
  demand(charge !== undefined, purchaseId, 'was not paid, so no money can go back');
  demand(!charge.refunded && !charge.disputed, purchaseId, `gave the money of ${charge.id} back already`);
  return charge;
}

/** The charges of a purchase, oldest first. */
export function chargesOf(books: Shop['books'], purchaseId: string): Stripe.Charge[] {
  if (books.objects.subscriptions.has(purchaseId)) {
    return invoicesOf(books, purchaseId).flatMap(({ id }) => chargesOfInvoice(books, id));
  }
  return [...books.objects.charges.values()].filter(({ payment_intent }) => idOf(payment_intent) === purchaseId);
}
