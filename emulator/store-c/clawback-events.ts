import { randomUUID } from 'node:crypto';
import { dayMs } from '../calendar.ts';
import type { ClawbackMessage, Payment, Purchase } from './records.ts';
import { toTimestamp } from './service-request.ts';
import type { StoreState } from './store-state.ts';

/** A message expires when nobody takes it for a week. */
export const messageTtlMs = 7 * dayMs;

/** The messages that are in the queue at `now`, the oldest first; what was paid back since the last look joins them. */
export function listQueuedMessages({ clawbacks, purchases }: StoreState, now: number): ClawbackMessage[] {
  for (const purchase of purchases.values()) {
    for (const payment of purchase.payments) {
      const { lineItemId, refundedDate } = payment;
      if (refundedDate === undefined || clawbacks.has(lineItemId)) continue;
      clawbacks.set(lineItemId, buildMessage(purchase, payment, refundedDate));
    }
  }
  return [...clawbacks.values()]
    .filter(({ insertedAt, isDeleted }) => !isDeleted && now < insertedAt + messageTtlMs)
    .sort((one, other) => one.insertedAt - other.insertedAt);
}

function buildMessage(purchase: Purchase, payment: Payment, at: number): ClawbackMessage {
  const event = {
    id: randomUUID(),
    source: 'Purchase',
    type: 'clawback',
    subject: purchase.recurrence ? 'Recurrence' : 'Order',
    time: toTimestamp(at),
    data: orderInfo(purchase, payment, at),
  };
  return {
    messageId: randomUUID(),
    lineItemId: payment.lineItemId,
    text: Buffer.from(JSON.stringify(event)).toString('base64'),
    insertedAt: at,
    visibleAt: at,
    dequeueCount: 0,
    isDeleted: false,
  };
}

function orderInfo({ id, item, productId, sandboxId, recurrence }: Purchase, payment: Payment, at: number): object {
  return {
    lineItemId: payment.lineItemId,
    orderId: payment.orderId,
    productId,
    productType: item.kind,
    purchasedDate: toTimestamp(payment.purchasedDate),
    eventDate: toTimestamp(at),
    eventState: payment.state,
    sandboxId,
    skuId: '0010',
    ...(recurrence && {
      recurrenceData: {
        recurrenceId: id,
        durationIntervalStart: toTimestamp(payment.purchasedDate),
        durationInDays: daysBetween(payment.purchasedDate, recurrence.expirationTime),
        consumedDurationInDays: daysBetween(payment.purchasedDate, at),
        refundType: 'Full',
      },
    }),
  };
}

const daysBetween = (start: number, end: number): number => Math.max(0, Math.floor((end - start) / dayMs));
