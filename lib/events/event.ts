import * as v from 'valibot';
import { TagType } from '../api/enumerations.ts';
import { apiKeyLevels } from '../apps/app.ts';
import { Platform } from '../foundation/platform.ts';

const Rows = v.array(v.looseObject({}));

/** Lists of an event's content. All are always present, because clients loop over them without a check. */
export const contentLists = {
  products: Rows,
  purchases: Rows,
  transactions: Rows,
  claims: Rows,
  notifications: Rows,
  refreshFailures: Rows,
  exchangeRates: Rows,
};

export type ContentList = keyof typeof contentLists;
export const contentListNames = Object.keys(contentLists) as ContentList[];

/** Content of an event. All lists are always present. */
export const EventContent = v.object({
  ...contentLists,
  tags: v.record(v.string(), TagType),
  /** Number of omitted rows by list. */
  trimmed: v.exactOptional(v.record(v.string(), v.number())),
  appDownload: v.exactOptional(
    v.object({ currentVersion: v.exactOptional(v.string()), originalVersion: v.exactOptional(v.string()) }),
  ),
});
export type EventContent = v.InferOutput<typeof EventContent>;

/** A store request in an event: without credentials and query string, with long path segments shortened. */
export const ExternalCall = v.object({
  type: v.string(),
  /** The called store. Absent for webhooks. */
  platform: v.exactOptional(Platform),
  url: v.string(),
  method: v.string(),
  response: v.exactOptional(v.object({ status: v.number(), size: v.number() })),
  error: v.exactOptional(v.object({ message: v.string() })),
  timing: v.object({ startedAt: v.number(), endedAt: v.number() }),
});
export type ExternalCall = v.InferOutput<typeof ExternalCall>;

/** The sanitized raw view of a request. */
export const RawEvent = v.object({
  request: v.looseObject({}),
  response: v.looseObject({}),
  error: v.exactOptional(v.object({ code: v.string(), status: v.number(), message: v.string() })),
  externalRequests: v.array(ExternalCall),
});
export type RawEvent = v.InferOutput<typeof RawEvent>;

/** An event with its raw view, if it has one. */
export interface DetailedEvent {
  readonly event: EventRecord;
  readonly raw?: RawEvent;
}

/** Log entry of one request or job. */
export const EventRecord = v.object({
  eventId: v.string(),
  reqId: v.string(),
  type: v.string(),
  /** Epoch milliseconds. */
  date: v.number(),
  applicationUsername: v.exactOptional(v.string()),
  /** Method and path template. Describes the request if no raw view is stored, which is the case for reads. */
  route: v.exactOptional(v.string()),
  /** Key of the request. Absent for events of workers and of store notifications. */
  key: v.exactOptional(v.object({ id: v.string(), name: v.string(), level: v.picklist(apiKeyLevels) })),
  outcome: v.object({ status: v.number(), ok: v.boolean(), message: v.exactOptional(v.string()) }),
  content: EventContent,
});
export type EventRecord = v.InferOutput<typeof EventRecord>;

/** Apps and the console read much more often than anything else happens. */
export const isRead = ({ type }: Pick<EventRecord, 'type'>): boolean => type.endsWith('.read');

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
