import { type Change, demand, toldVoided, withOrder } from './change.ts';
import { latestOrder } from './placing.ts';
import type { Purchase, Voided } from './records.ts';

/** How many of a one-time purchase are not paid back. */
export const leftOf = ({ isCancelled, quantity, refundedQuantity = 0 }: Purchase): number =>
  isCancelled ? 0 : quantity - refundedQuantity;

/** The developer pays some of a one-time purchase back; the customer keeps what they bought. */
export function refundPart(purchase: Purchase, at: number, quantity: number): Change {
  const { id: token, purchasedAt, refundedQuantity = 0 } = purchase;
  const { id: orderId, amountMicros, partialRefunds = [] } = latestOrder(purchase);
  demand(quantity <= leftOf(purchase), purchase, `has only ${leftOf(purchase)} left to pay back`);
  const voided: Voided = { token, orderId, purchasedAt, voidedAt: at, isSubscription: false, quantity };
  const back = { at, amountMicros: Math.round((amountMicros * quantity) / purchase.quantity) };
  const order = {
    state: 'PARTIALLY_REFUNDED',
    changedAt: at,
    partialRefunds: [...partialRefunds, back],
  } as const;
  const paidBack = withOrder({ ...purchase, refundedQuantity: refundedQuantity + quantity }, orderId, order);
  return { purchase: paidBack, notices: [toldVoided(voided)], voided };
}
