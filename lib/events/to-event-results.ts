import type { TagType } from '../api/enumerations.ts';
import type { EventAnalysisResult, EventSearchResult, RequestContent, RequestContext } from '../api/event-records.ts';
import type { EventRecord, RawEvent } from './event.ts';

/**
 * An event as lists and searches show it; in a search with the tag as it was asked for. A request without an id is known by
 * its event's, for which it has no tag.
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

/** What an event was about; with its raw view, also the details of the receipt that was validated. */
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
  { type, date, applicationUsername, reqId }: EventRecord,
  includeHeavyData: boolean,
): RequestContext => ({
  appName,
  eventType: type,
  eventDate: new Date(date).toISOString(),
  eventDateMs: date,
  ...(applicationUsername !== undefined && { applicationUsername }),
  req_id: reqId,
  includeHeavyData,
});

/**
 * Spec: not shown. The transaction as it was sent, what the service answered and which calls to the store led there; no
 * receipt is kept, so none can be shown. Empty for a request that carried none.
 */
function toReceiptDetails({
  request,
  response,
  error,
  externalRequests,
}: RawEvent): NonNullable<RequestContent['receipts']> {
  const sent = toRecord(request.body);
  if (!sent.transaction) return [];
  const result = toRecord(toRecord(response.body).data);
  return [
    {
      id: sent.id,
      type: sent.type,
      transaction: sent.transaction,
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
