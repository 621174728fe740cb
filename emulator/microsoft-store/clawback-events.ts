import { randomUUID } from 'node:crypto';
import { dayMs } from '../calendar.ts';
import { skuId } from './collection-item.ts';
import { countPeriodDays } from './payments.ts';
import type { Clawback, ClawbackMessage, Payment, Purchase } from './records.ts';
import { toTimestamp } from './service-request.ts';
import type { StoreState } from './store-state.ts';

/** TTL of messages that are not deleted. */
export const messageTtlMs = 7 * dayMs;

/**
 * Lists the messages in the queue, the oldest first. Adds the messages of events since the previous call.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
export function listQueuedMessages({ clawbacks, purchases }: StoreState, now: number): ClawbackMessage[] {
  for (const purchase of purchases.values()) {
    for (const payment of purchase.payments) {
      for (const [index, clawback] of payment.clawbacks.entries()) {
        const key = index === 0 ? payment.lineItemId : `${payment.lineItemId}:${index}`;
        if (!clawbacks.has(key))
          clawbacks.set(key, buildMessage(key, clawback, buildOrderInfo(purchase, payment, clawback)));
      }
    }
  }
  return [...clawbacks.values()]
    .filter(({ insertedAt, isDeleted }) => !isDeleted && now < insertedAt + messageTtlMs)
    .sort((a, b) => a.insertedAt - b.insertedAt);
}

function buildMessage(lineItemId: string, { source, date }: Clawback, data: object): ClawbackMessage {
  const id = randomUUID();
  const event = {
    id,
    source,
    type: 'ClawbackEventContractV2',
    subject: `${source}/${id}`,
    time: toTimestamp(date),
    data,
  };
  return {
    messageId: randomUUID(),
    lineItemId,
    text: Buffer.from(JSON.stringify(event)).toString('base64'),
    insertedAt: date,
    visibleAt: date,
    dequeueCount: 0,
    isDeleted: false,
  };
}

function buildOrderInfo(purchase: Purchase, payment: Payment, { state, date, amountMicros }: Clawback): object {
  const { id, item, productId, sandboxId, recurrence } = purchase;
  const { total, consumed } = countPeriodDays(purchase, payment, date);
  return {
    lineItemId: payment.lineItemId,
    orderId: payment.orderId,
    productId,
    productType: item.kind,
    purchasedDate: toTimestamp(payment.purchasedDate),
    eventDate: toTimestamp(date),
    eventState: state,
    sandboxId,
    skuId,
    ...(recurrence && {
      recurrenceData: {
        recurrenceId: id,
        durationIntervalStart: toTimestamp(payment.periodStart ?? payment.purchasedDate),
        durationInDays: total,
        consumedDurationInDays: consumed,
        refundType: amountMicros === undefined ? 'Full' : 'Partial',
      },
    }),
  };
}
