import { randomUUID } from 'node:crypto';
import { dayMs, formatTime } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { sum } from '../sum.ts';
import { getLatestPayment } from './collection-item.ts';
import type { Clawback, Payment, Purchase } from './records.ts';

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
  purchasedDate: at,
  clawbacks: [],
  quantity,
  amountMicros: priceMicros,
  ...(periodStart !== undefined && { periodStart }),
});

/** Copies a purchase with a payment added. */
export const withPayment = (purchase: Purchase, at: number, sold: Sold): Purchase => ({
  ...purchase,
  payments: [...purchase.payments, createPayment(at, sold)],
});

/** Lists the payments of a purchase with what was taken back of them, and their sums. */
export function summarizePayments({ payments }: Purchase, currency: string) {
  const listRefunds = (payment: Payment) =>
    listOpenClawbacks(payment).map(({ date, amountMicros = payment.amountMicros }) => ({
      createdAt: formatTime(date),
      amountMicros,
    }));
  return {
    payments: payments.map((payment) => ({
      orderId: payment.orderId,
      date: formatTime(payment.purchasedDate),
      amountMicros: payment.amountMicros,
      currency,
      ...(payment.periodStart !== undefined && { periodStart: formatTime(payment.periodStart) }),
      refunds: listRefunds(payment),
    })),
    paidMicros: sum(payments.map(({ amountMicros }) => amountMicros)),
    refundedMicros: sum(payments.flatMap(listRefunds).map(({ amountMicros }) => amountMicros)),
  };
}

/** Lists the refunds and the chargeback of a payment, the oldest first, unless the chargeback was reversed. */
export const listOpenClawbacks = ({ clawbacks }: Payment): Clawback[] =>
  clawbacks.filter(
    (clawback, index) =>
      !isReversal(clawback) && !(isChargeback(clawback) && clawbacks.slice(index + 1).some(isReversal)),
  );

const isReversal = ({ state }: Clawback): boolean => state === 'ChargebackReversal';

export const isChargeback = ({ source }: Clawback): boolean => source === '/Purchase/Chargeback';

/** Copies a purchase with another event of its latest payment, which has one refund and one chargeback at a time. */
export function withClawback(purchase: Purchase, clawback: Clawback): Purchase {
  const latest = getLatestPayment(purchase);
  const isReturn = isReversal(clawback);
  if (isReturn !== listOpenClawbacks(latest).some(({ source }) => source === clawback.source))
    throw controlError(422, `The payment of ${purchase.id} is ${isReturn ? 'not' : 'already'} taken back like this.`);
  const clawbacks = [...latest.clawbacks, clawback];
  return { ...purchase, payments: [...purchase.payments.slice(0, -1), { ...latest, clawbacks }] };
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
