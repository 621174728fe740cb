import * as v from 'valibot';
import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { StoreNotification } from '../store.ts';
import { NullishText, parseTimestamp } from './timestamps.ts';

const Id = v.pipe(v.string(), v.minLength(1));
const Moment = v.pipe(
  v.string(),
  v.transform((text) => parseTimestamp(text)),
  v.number(),
);

/** Money that went back, or came again, as the clawback queue tells of it. It names no customer. */
const ClawbackEvent = v.object({
  id: Id,
  time: Moment,
  data: v.object({
    orderId: v.string(),
    productId: Id,
    eventDate: Moment,
    eventState: Id,
    sandboxId: NullishText,
    recurrenceData: v.nullish(
      v.object({
        recurrenceId: Id,
        durationIntervalStart: v.nullish(Moment),
        durationInDays: v.nullish(v.number()),
      }),
    ),
  }),
});
export type ClawbackEvent = v.InferOutput<typeof ClawbackEvent>;

/** What travels with a message: what it tells of which payment, and what deleting it at the store needs. */
export const Clawback = v.object({
  state: v.string(),
  eventDate: v.number(),
  /** Prefixed ids. */
  purchaseId: v.string(),
  transactionId: v.exactOptional(v.string()),
  /** Of a subscription instead: when the period began that was paid for. */
  periodStart: v.exactOptional(v.number()),
  messageId: v.string(),
  popReceipt: v.string(),
});
export type Clawback = v.InferOutput<typeof Clawback>;

/** The event in a message of the queue; undefined for a text that is none. */
export function parseClawbackEvent(messageText: string): ClawbackEvent | undefined {
  const text = Buffer.from(messageText.trim(), 'base64').toString('utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), ClawbackEvent), text);
  return result.success ? result.output : undefined;
}

/** The message that an event about a known purchase becomes. */
export function toNotification(
  { id, time, data: { eventState: state, eventDate } }: ClawbackEvent,
  about: Omit<Clawback, 'state' | 'eventDate'>,
): StoreNotification {
  return {
    key: id,
    type: `clawback.${state}`,
    occurredAt: time,
    payload: { state, eventDate, ...about } satisfies Clawback,
  };
}

/** States in which the customer has the money back; only with the first two what was bought is taken away, too. */
const reasonsByState: Readonly<Record<string, NotificationReason>> = {
  Revoked: 'REFUNDED',
  Returned: 'REFUNDED',
  Refunded: 'REFUNDED',
};

/** What an event of this state says in our words; `OTHER` for one that is not known, or that gives the money back to us. */
export const toNotificationReason = (state: string): NotificationReason =>
  Object.hasOwn(reasonsByState, state) ? (reasonsByState[state] ?? 'OTHER') : 'OTHER';

/** Whether what was bought was taken away with the money, or could not be as it had been used up. */
export const isRevokedState = (state: string): boolean => state === 'Revoked' || state === 'Returned';
