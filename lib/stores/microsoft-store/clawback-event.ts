import * as v from 'valibot';
import type { StoreNotification } from '../store.ts';
import { ClawbackEvent } from './payloads.ts';

/** The payload of a store notification: the reversed payment, and the receipt that deletes the queue message. */
export const Clawback = v.object({
  state: v.string(),
  eventDate: v.number(),
  /** Prefixed, like `transactionId`. */
  purchaseId: v.string(),
  transactionId: v.exactOptional(v.string()),
  /** Start of the paid period. Identifies the payment of a subscription instead of `transactionId`. */
  periodStart: v.exactOptional(v.number()),
  /** Only a part of the payment came back, such as 0.5. Without the part, the amount is unknown. */
  partialRefund: v.exactOptional(v.object({ part: v.exactOptional(v.number()) })),
  /** The payment institution took the payment back, not Microsoft. */
  isChargeback: v.exactOptional(v.boolean()),
  messageId: v.string(),
  popReceipt: v.string(),
});
export type Clawback = v.InferOutput<typeof Clawback>;

/** Parses a queue message. Returns undefined if it is not a clawback event. */
export function parseClawbackEvent(messageText: string): ClawbackEvent | undefined {
  const text = Buffer.from(messageText.trim(), 'base64').toString('utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), ClawbackEvent), text);
  return result.success ? result.output : undefined;
}

/**
 * Matches the source of a chargeback and of its reversal, `/Purchase/Chargeback`. Another source is a return or a
 * refund by Microsoft.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
const chargebackSource = /chargeback/i;

/** Builds the store notification of an event about a stored purchase. */
export function toNotification(
  { id, source, time, data: { eventState: state, eventDate, recurrenceData } }: ClawbackEvent,
  subject: Omit<Clawback, 'state' | 'eventDate' | 'partialRefund' | 'isChargeback'>,
): StoreNotification {
  return {
    key: id,
    type: `clawback.${state}`,
    occurredAt: time,
    payload: {
      ...{ state, eventDate, ...subject, ...toPartialRefund(recurrenceData ?? {}) },
      ...(source && { isChargeback: chargebackSource.test(source) }),
    } satisfies Clawback,
  };
}

/**
 * Only an event about a subscription can report a partial refund. It lacks the amount: the unused days of the period
 * count.
 * @see https://github.com/microsoft/Microsoft-Store-Services/blob/main/Microsoft.StoreServices/Microsoft.StoreServices/Clawback/V2/ClawbackRecurrenceData.cs
 */
function toPartialRefund({
  refundType = 'full',
  durationInDays = 0,
  consumedDurationInDays = durationInDays,
}: Partial<NonNullable<ClawbackEvent['data']['recurrenceData']>>): Pick<Clawback, 'partialRefund'> {
  if (refundType.toLowerCase() === 'full') return {};
  const part = (durationInDays - consumedDurationInDays) / durationInDays;
  return { partialRefund: part > 0 && part <= 1 ? { part } : {} };
}
