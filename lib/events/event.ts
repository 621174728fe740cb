import * as v from 'valibot';
import { contentLists, OptionalText, TagType } from '../api/schemas.ts';
import { apiKeyLevels } from '../apps/app.ts';
import { Platform } from '../foundation/platform.ts';
import { removedMark, trimmedMark } from '../foundation/redaction/redact-text.ts';

export type ContentList = keyof typeof contentLists;
export const contentListNames = Object.keys(contentLists) as ContentList[];

/** Content of an event. All lists are always present. */
export const EventContent = v.object({
  ...contentLists,
  tags: v.record(v.string(), TagType),
  /** Number of omitted rows by list. */
  trimmed: v.exactOptional(v.record(v.string(), v.number())),
  appDownload: v.exactOptional(v.object({ currentVersion: OptionalText, originalVersion: OptionalText })),
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
  applicationUsername: OptionalText,
  /** Method and path template. Describes the request if no raw view is stored, which is the case for reads. */
  route: OptionalText,
  /** Key of the request. Absent for events of workers and of store notifications. */
  key: v.exactOptional(v.object({ id: v.string(), name: v.string(), level: v.picklist(apiKeyLevels) })),
  outcome: v.object({ status: v.number(), ok: v.boolean(), message: OptionalText }),
  content: EventContent,
});
export type EventRecord = v.InferOutput<typeof EventRecord>;

/** Fields of requests, responses and content rows that contain usernames. */
const usernameFields: readonly string[] = ['applicationUsername', 'entitledUsers', 'from'];

/**
 * Far below DynamoDB's item limit of 400 KB, so that an event can be written however well it compresses.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maxRawBytes = 256 * 1024;
const maxContentBytes = 64 * 1024;
const maxExternalCalls = 50;

/** The part of an event that a list of a customer's events contains. */
export const EventExcerpt = v.object({
  type: v.string(),
  outcome: EventRecord.entries.outcome,
  productIds: v.array(v.string()),
  purchaseIds: v.array(v.string()),
});
export type EventExcerpt = v.InferOutput<typeof EventExcerpt>;

export type ListedEvent = EventExcerpt & Pick<EventRecord, 'eventId' | 'date'>;

/** Apps and the console read much more often than anything else happens. */
export const isRead = ({ type }: Pick<EventRecord, 'type'>): boolean => type.endsWith('.read');

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

/** Lists the usernames in the sanitized parts of an event, each once. */
export function listUsernames(part: unknown): string[] {
  if (Array.isArray(part)) return [...new Set(part.flatMap(listUsernames))];
  if (typeof part !== 'object' || part === null) return [];
  const members = Object.entries(part);
  const named = members.flatMap(([field, value]) => (usernameFields.includes(field) ? [value].flat() : []));
  const usernames = named.filter((name) => typeof name === 'string' && name !== '' && !name.includes(removedMark));
  return [...new Set([...(usernames as string[]), ...members.flatMap(([, value]) => listUsernames(value))])];
}

const countJsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Limits the raw view to the size of an item. First omits store requests after the first 50, then the larger body. */
export function limitRawEvent(raw: RawEvent): RawEvent {
  const fewer = { ...raw, externalRequests: limitExternalCalls(raw.externalRequests) };
  if (countJsonBytes(fewer) <= maxRawBytes) return fewer;
  const { body: requestBody, ...request } = fewer.request;
  const { body: responseBody, ...response } = fewer.response;
  const withResponse = { ...fewer, request: { ...request, body: trimmedMark } };
  if (countJsonBytes(requestBody) >= countJsonBytes(responseBody) && countJsonBytes(withResponse) <= maxRawBytes)
    return withResponse;
  const withRequest = { ...fewer, response: { ...response, body: trimmedMark } };
  if (countJsonBytes(withRequest) <= maxRawBytes) return withRequest;
  return { ...withResponse, request: { body: trimmedMark }, response: { status: response.status, body: trimmedMark } };
}

function limitExternalCalls(calls: readonly ExternalCall[]): ExternalCall[] {
  const firstCalls = calls.slice(0, maxExternalCalls);
  const [first, last] = [calls[maxExternalCalls], calls.at(-1)];
  if (!first || !last) return firstCalls;
  const timing = { startedAt: first.timing.startedAt, endedAt: last.timing.endedAt };
  return [
    ...firstCalls,
    { type: `${trimmedMark} ${calls.length - maxExternalCalls} more calls`, url: '', method: '', timing },
  ];
}

/**
 * Shortens the lists of the content to 64 KB, because lists of events read many items; `trimmed` counts omitted rows.
 */
export function limitContent(content: EventContent): EventContent {
  for (const maxRows of [100, 20, 5]) {
    const shorter = truncateLists(content, maxRows);
    if (countJsonBytes(shorter) <= maxContentBytes) return shorter;
  }
  return truncateLists(content, 0);
}

/** Returns the content with at most `maxRows` rows in each list. */
export function truncateLists(content: EventContent, maxRows: number): EventContent {
  const truncated = { ...content, trimmed: { ...content.trimmed } };
  for (const list of contentListNames) {
    const omitted = content[list].length - maxRows;
    if (omitted <= 0) continue;
    truncated[list] = content[list].slice(0, maxRows);
    truncated.trimmed[list] = (truncated.trimmed[list] ?? 0) + omitted;
  }
  const { trimmed: counts, ...rest } = truncated;
  return Object.keys(counts).length > 0 ? truncated : rest;
}
