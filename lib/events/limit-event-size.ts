import { trimmedMark } from '../shared/redaction/redact-text.ts';
import { contentLists, type EventContent, type ExternalCall, type RawEvent } from './event.ts';

/** Far below the 400 KB of an item, so that whatever compression does, an event can be written. */
const maxRawBytes = 256 * 1024;
const maxContentBytes = 64 * 1024;
const maxExternalCalls = 50;

const countJsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** The raw view in the size of an item: of many calls the first, then the largest parts, give way to a mark. */
export function limitRawEvent(raw: RawEvent): RawEvent {
  const fewer = { ...raw, externalRequests: limitExternalCalls(raw.externalRequests) };
  if (countJsonBytes(fewer) <= maxRawBytes) return fewer;
  const { body: requestBody, ...request } = fewer.request;
  const { body: responseBody, ...response } = fewer.response;
  const withAnswer = { ...fewer, request: { ...request, body: trimmedMark } };
  if (countJsonBytes(requestBody) >= countJsonBytes(responseBody) && countJsonBytes(withAnswer) <= maxRawBytes)
    return withAnswer;
  const withRequest = { ...fewer, response: { ...response, body: trimmedMark } };
  if (countJsonBytes(withRequest) <= maxRawBytes) return withRequest;
  return { ...withAnswer, request: { body: trimmedMark }, response: { status: response.status, body: trimmedMark } };
}

function limitExternalCalls(calls: readonly ExternalCall[]): ExternalCall[] {
  const kept = calls.slice(0, maxExternalCalls);
  const [first, last] = [calls[maxExternalCalls], calls.at(-1)];
  if (!first || !last) return kept;
  const timing = { startedAt: first.timing.startedAt, endedAt: last.timing.endedAt };
  return [
    ...kept,
    { type: `${trimmedMark} ${calls.length - maxExternalCalls} more calls`, url: '', method: '', timing },
  ];
}

/** The content in a size that lists of events can be read in; `trimmed` says how many rows of a list were left out. */
export function limitContent(content: EventContent): EventContent {
  for (const maxRows of [100, 20, 5]) {
    const shorter = truncateLists(content, maxRows);
    if (countJsonBytes(shorter) <= maxContentBytes) return shorter;
  }
  return truncateLists(content, 0);
}

/** The content with at most so many rows in each list. */
export function truncateLists(content: EventContent, maxRows: number): EventContent {
  const truncated = { ...content, trimmed: { ...content.trimmed } };
  for (const list of contentLists) {
    const left = content[list].length - maxRows;
    if (left <= 0) continue;
    truncated[list] = content[list].slice(0, maxRows);
    truncated.trimmed[list] = (truncated.trimmed[list] ?? 0) + left;
  }
  const { trimmed: counts, ...rest } = truncated;
  return Object.keys(counts).length > 0 ? truncated : rest;
}
