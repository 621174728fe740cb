import type { TagType } from '../api/schemas.ts';
import { toIso } from '../foundation/time.ts';
import type { EventAnalysisResult, EventSearchResult, RequestContent, RequestContext } from './contract.ts';
import type { EventRecord, RawEvent } from './event.ts';

/**
 * Converts an event to a row of a list or search. `searchedTags` has the requested tag first, then its equivalents. The
 * request id is always searchable: without one, it is the event id, which is not stored as a tag.
 */
export function toSearchResult(
  appName: string,
  event: EventRecord,
  searchedTags?: readonly string[],
): EventSearchResult {
  const tags: Readonly<Record<string, TagType>> = { [event.reqId]: '_R', ...event.content.tags };
  const tag = searchedTags?.find((name) => Object.hasOwn(tags, name));
  return {
    tag: searchedTags?.[0] ?? '',
    type: tag === undefined ? '' : (tags[tag] ?? ''),
    eventId: event.eventId,
    context: toRequestContext(appName, event, false),
    content: event.content,
  };
}

/** Converts an event to its analysis. Adds the details of the validated receipt if the raw view is passed. */
export function toAnalysisResult(appName: string, event: EventRecord, raw?: RawEvent): EventAnalysisResult {
  const receipts = raw ? toReceiptDetails(raw) : undefined;
  return {
    eventId: event.eventId,
    context: toRequestContext(appName, event, receipts !== undefined),
    content: { ...event.content, ...(receipts && { receipts }) },
  };
}

const toRequestContext = (
  appName: string,
  { type, date, applicationUsername, reqId, key }: EventRecord,
  includeHeavyData: boolean,
): RequestContext => ({
  appName,
  eventType: type,
  eventDate: toIso(date),
  eventDateMs: date,
  ...(applicationUsername !== undefined && { applicationUsername }),
  req_id: reqId,
  ...(key && { key }),
  includeHeavyData,
});

/**
 * Spec: not shown. Lists the sanitized transaction, the response and the store requests. Receipts are not stored.
 * Returns an empty list for a request without transaction.
 */
function toReceiptDetails({
  request,
  response,
  error,
  externalRequests,
}: RawEvent): NonNullable<RequestContent['receipts']> {
  const body = toRecord(request.body);
  if (!body.transaction) return [];
  const result = toRecord(toRecord(response.body).data);
  return [
    {
      id: body.id,
      type: body.type,
      transaction: body.transaction,
      status: response.status,
      ...(result.transaction !== undefined && { answer: result.transaction }),
      ...(result.collection !== undefined && { collection: result.collection }),
      ...(error && { error }),
      storeCalls: externalRequests,
    },
  ];
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
