import { randomUUID } from 'node:crypto';
import { refusal } from '../refusal.ts';
import { latestPayment } from './collection-item.ts';
import type { Payment, Purchase } from './records.ts';

/** A payment made now. */
export const payment = (at: number, quantity: number): Payment => ({
  orderId: randomUUID(),
  lineItemId: randomUUID(),
  state: 'Purchased',
  purchasedDate: at,
  quantity,
});

/** The purchase with one more payment. */
export const withPayment = (purchase: Purchase, at: number, quantity: number): Purchase => ({
  ...purchase,
  payments: [...purchase.payments, payment(at, quantity)],
});

/** The purchase with its latest payment paid back: `Revoked` when the customer had used it up before. */
export function refundLatest(purchase: Purchase, at: number, state: 'Refunded' | 'Revoked'): Purchase {
  const latest = latestPayment(purchase);
  if (latest.state !== 'Purchased') throw refusal(422, `${purchase.id} is ${latest.state} already.`);
  return { ...purchase, payments: [...purchase.payments.slice(0, -1), { ...latest, state, refundedDate: at }] };
}
