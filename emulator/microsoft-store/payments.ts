import { randomUUID } from 'node:crypto';
import { controlError } from '../control-error.ts';
import { getLatestPayment } from './collection-item.ts';
import type { Payment, Purchase } from './records.ts';

/** Builds a payment. */
export const createPayment = (at: number, quantity: number): Payment => ({
  orderId: randomUUID(),
  lineItemId: randomUUID(),
  state: 'Purchased',
  purchasedDate: at,
  quantity,
});

/** Copies a purchase with a payment added. */
export const withPayment = (purchase: Purchase, at: number, quantity: number): Purchase => ({
  ...purchase,
  payments: [...purchase.payments, createPayment(at, quantity)],
});

/** Copies a purchase with its latest payment refunded. The state is `Revoked` if the item was consumed before. */
export function refundLatestPayment(purchase: Purchase, at: number, state: 'Refunded' | 'Revoked'): Purchase {
  const latest = getLatestPayment(purchase);
  if (latest.state !== 'Purchased') throw controlError(422, `${purchase.id} is already ${latest.state}.`);
  return { ...purchase, payments: [...purchase.payments.slice(0, -1), { ...latest, state, refundedDate: at }] };
}
