import { trimmedMark } from '../foundation/redaction/redact-text.ts';
import { contentListNames, type EventContent, type ExternalCall, type RawEvent } from './event.ts';

/**
 * Far below DynamoDB's item limit of 400 KB, so that an event can be written however well it compresses.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maxRawBytes = 256 * 1024;
const maxContentBytes = 64 * 1024;
const maxExternalCalls = 50;

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
