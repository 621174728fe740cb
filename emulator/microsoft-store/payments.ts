import { randomUUID } from 'node:crypto';
import { formatTime } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { getLatestPayment } from './collection-item.ts';
import type { Payment, Purchase } from './records.ts';

/**
 * What is paid: a product, or a free trial. The price is that of all units that a store-managed consumable adds to the
 * balance: their quantity is a property of the product.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/publish/enter-add-on-properties
 */
export interface Sold {
  readonly quantity: number;
  readonly priceMicros: number;
  readonly periodStart?: number;
}

/** Builds a payment. */
export const createPayment = (at: number, { quantity, priceMicros, periodStart }: Sold): Payment => ({
  orderId: randomUUID(),
  lineItemId: randomUUID(),
  state: 'Purchased',
  purchasedDate: at,
  quantity,
  amountMicros: priceMicros,
  ...(periodStart !== undefined && { periodStart }),
});

/** Copies a purchase with a payment added. */
export const withPayment = (purchase: Purchase, at: number, sold: Sold): Purchase => ({
  ...purchase,
  payments: [...purchase.payments, createPayment(at, sold)],
});

/** Lists the payments of a purchase with their refunds, and their sums. */
export function summarizePayments({ payments }: Purchase, currency: string) {
  const refunded = payments.filter(({ state }) => state !== 'Purchased');
  return {
    payments: payments.map(({ orderId, purchasedDate, periodStart, amountMicros, refundedDate }) => ({
      orderId,
      date: formatTime(purchasedDate),
      amountMicros,
      currency,
      ...(periodStart !== undefined && { periodStart: formatTime(periodStart) }),
      refunds: refundedDate === undefined ? [] : [{ createdAt: formatTime(refundedDate), amountMicros }],
    })),
    paidMicros: sumAmounts(payments),
    refundedMicros: sumAmounts(refunded),
  };
}

const sumAmounts = (payments: readonly Payment[]): number =>
  payments.reduce((sum, { amountMicros }) => sum + amountMicros, 0);

/** Copies a purchase with its latest payment refunded. The state is `Revoked` if the item was consumed before. */
export function refundLatestPayment(purchase: Purchase, at: number, state: 'Refunded' | 'Revoked'): Purchase {
  const latest = getLatestPayment(purchase);
  if (latest.state !== 'Purchased') throw controlError(422, `${purchase.id} is already ${latest.state}.`);
  return { ...purchase, payments: [...purchase.payments.slice(0, -1), { ...latest, state, refundedDate: at }] };
}
