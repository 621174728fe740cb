import { randomUUID } from 'node:crypto';
import { dayMs } from '../calendar.ts';
import { skuId } from './collection-item.ts';
import { countPeriodDays } from './payments.ts';
import type { ClawbackMessage, Payment, Purchase } from './records.ts';
import { toTimestamp } from './service-request.ts';
import type { StoreState } from './store-state.ts';

/** TTL of messages that are not deleted. */
export const messageTtlMs = 7 * dayMs;

/**
 * Lists the messages in the queue, the oldest first. Adds the messages of refunds since the previous call.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
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
    .sort((a, b) => a.insertedAt - b.insertedAt);
}

function buildMessage(purchase: Purchase, payment: Payment, at: number): ClawbackMessage {
  const event = {
    id: randomUUID(),
    source: 'Purchase',
    type: 'clawback',
    subject: purchase.recurrence ? 'Recurrence' : 'Order',
    time: toTimestamp(at),
    data: buildOrderInfo(purchase, payment, at),
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

function buildOrderInfo(purchase: Purchase, payment: Payment, at: number): object {
  const { id, item, productId, sandboxId, recurrence } = purchase;
  const { total, consumed } = countPeriodDays(purchase, payment, at);
  return {
    lineItemId: payment.lineItemId,
    orderId: payment.orderId,
    productId,
    productType: item.kind,
    purchasedDate: toTimestamp(payment.purchasedDate),
    eventDate: toTimestamp(at),
    eventState: payment.state,
    sandboxId,
    skuId,
    ...(recurrence && {
      recurrenceData: {
        recurrenceId: id,
        durationIntervalStart: toTimestamp(payment.periodStart ?? payment.purchasedDate),
        durationInDays: total,
        consumedDurationInDays: consumed,
        refundType: payment.refundedMicros === undefined ? 'Full' : 'Prorated',
      },
    }),
  };
}
