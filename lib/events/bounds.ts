import { type EventContent, type ExternalCall, eventLists, type RawEvent } from './event.ts';
import { trimmed } from './texts.ts';

/** Far below the 400 KB of an item, so that whatever compression does, an event can be written. */
const largestRawBytes = 256 * 1024;
const largestContentBytes = 64 * 1024;
const mostCalls = 50;

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** The raw view in the size of an item: of many calls the first, then the largest parts, give way to a mark. */
export function boundedRaw(raw: RawEvent): RawEvent {
  const fewer = { ...raw, externalRequests: boundedCalls(raw.externalRequests) };
  if (bytes(fewer) <= largestRawBytes) return fewer;
  const { body: asked, ...request } = fewer.request;
  const { body: answered, ...response } = fewer.response;
  const withAnswer = { ...fewer, request: { ...request, body: trimmed } };
  if (bytes(asked) >= bytes(answered) && bytes(withAnswer) <= largestRawBytes) return withAnswer;
  const withRequest = { ...fewer, response: { ...response, body: trimmed } };
  if (bytes(withRequest) <= largestRawBytes) return withRequest;
  return { ...withAnswer, request: { body: trimmed }, response: { status: response.status, body: trimmed } };
}

function boundedCalls(calls: readonly ExternalCall[]): ExternalCall[] {
  const kept = calls.slice(0, mostCalls);
  const [first, last] = [calls[mostCalls], calls.at(-1)];
  if (!first || !last) return kept;
  const timing = { startedAt: first.timing.startedAt, endedAt: last.timing.endedAt };
  return [...kept, { type: `${trimmed} ${calls.length - mostCalls} more calls`, url: '', method: '', timing }];
}

/** The content in a size that lists of events can be read in; `trimmed` says how many rows of a list were left out. */
export function boundedContent(content: EventContent): EventContent {
  for (const most of [100, 20, 5]) {
    const shorter = shortened(content, most);
    if (bytes(shorter) <= largestContentBytes) return shorter;
  }
  return shortened(content, 0);
}

/** The content with at most so many rows in each list. */
export function shortened(content: EventContent, most: number): EventContent {
  const cut = { ...content, trimmed: { ...content.trimmed } };
  for (const list of eventLists) {
    const left = content[list].length - most;
    if (left <= 0) continue;
    cut[list] = content[list].slice(0, most);
    cut.trimmed[list] = (cut.trimmed[list] ?? 0) + left;
  }
  const { trimmed: counts, ...rest } = cut;
  return Object.keys(counts).length > 0 ? cut : rest;
}
