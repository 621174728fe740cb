import { randomUUID } from 'node:crypto';
import { dayMs, formatTime } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { sum } from '../sum.ts';
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
    payments: payments.map((payment) => ({
      orderId: payment.orderId,
      date: formatTime(payment.purchasedDate),
      amountMicros: payment.amountMicros,
      currency,
      ...(payment.periodStart !== undefined && { periodStart: formatTime(payment.periodStart) }),
      refunds:
        payment.refundedDate === undefined
          ? []
          : [{ createdAt: formatTime(payment.refundedDate), amountMicros: getRefundedMicros(payment) }],
    })),
    paidMicros: sum(payments.map(({ amountMicros }) => amountMicros)),
    refundedMicros: sum(refunded.map(getRefundedMicros)),
  };
}

const getRefundedMicros = ({ amountMicros, refundedMicros = amountMicros }: Payment): number => refundedMicros;

/**
 * Copies a purchase with its latest payment refunded, or a part of it. The state is `Revoked` if the item was consumed
 * before.
 */
export function refundLatestPayment(
  purchase: Purchase,
  at: number,
  { state, part }: { readonly state: 'Refunded' | 'Revoked'; readonly part?: number },
): Purchase {
  const latest = getLatestPayment(purchase);
  if (latest.state !== 'Purchased') throw controlError(422, `${purchase.id} is already ${latest.state}.`);
  const refundedMicros = part === undefined ? {} : { refundedMicros: Math.round(latest.amountMicros * part) };
  const refunded = { ...latest, state, refundedDate: at, ...refundedMicros };
  return { ...purchase, payments: [...purchase.payments.slice(0, -1), refunded] };
}

/** Counts the days of the period that a payment pays, and those before a date. */
export function countPeriodDays({ recurrence }: Purchase, { periodStart, purchasedDate }: Payment, at: number) {
  const start = periodStart ?? purchasedDate;
  return { total: countDays(start, recurrence?.expirationTime ?? start), consumed: countDays(start, at) };
}

const countDays = (start: number, end: number): number => Math.max(0, Math.floor((end - start) / dayMs));

/** Returns the part of the current period that the customer has not used. */
export function getUnusedPart(purchase: Purchase, at: number): number {
  const { total, consumed } = countPeriodDays(purchase, getLatestPayment(purchase), at);
  return total > consumed ? (total - consumed) / total : 0;
}
