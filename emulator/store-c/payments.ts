import { randomUUID } from 'node:crypto';
import { controlError } from '../control-error.ts';
import { getLatestPayment } from './collection-item.ts';
import type { Payment, Purchase } from './records.ts';

/** A payment made now. */
export const createPayment = (at: number, quantity: number): Payment => ({
  orderId: randomUUID(),
  lineItemId: randomUUID(),
  state: 'Purchased',
  purchasedDate: at,
  quantity,
});

/** The purchase with one more payment. */
export const withPayment = (purchase: Purchase, at: number, quantity: number): Purchase => ({
  ...purchase,
  payments: [...purchase.payments, createPayment(at, quantity)],
});

/** The purchase with its latest payment paid back: `Revoked` when the customer had used it up before. */
export function refundLatestPayment(purchase: Purchase, at: number, state: 'Refunded' | 'Revoked'): Purchase {
  const latest = getLatestPayment(purchase);
  if (latest.state !== 'Purchased') throw controlError(422, `${purchase.id} is ${latest.state} already.`);
  return { ...purchase, payments: [...purchase.payments.slice(0, -1), { ...latest, state, refundedDate: at }] };
}
