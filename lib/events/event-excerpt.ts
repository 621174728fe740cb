import * as v from 'valibot';
import { EventRecord } from './event.ts';

/** The part of an event that a list of a customer's events contains. */
export const EventExcerpt = v.object({
  type: v.string(),
  outcome: EventRecord.entries.outcome,
  productIds: v.array(v.string()),
  purchaseIds: v.array(v.string()),
});
export type EventExcerpt = v.InferOutput<typeof EventExcerpt>;

export type ListedEvent = EventExcerpt & Pick<EventRecord, 'eventId' | 'date'>;

export const toEventExcerpt = ({ type, outcome, content }: EventRecord): EventExcerpt => ({
  type,
  outcome,
  productIds: listIds(content.purchases, 'productId'),
  purchaseIds: listIds(content.purchases, 'purchaseId'),
});

export const toListedEvent = (event: EventRecord): ListedEvent => ({
  ...toEventExcerpt(event),
  eventId: event.eventId,
  date: event.date,
});

const listIds = (rows: readonly Record<string, unknown>[], field: string): string[] => [
  ...new Set(rows.map((row) => row[field]).filter((id) => typeof id === 'string')),
];
