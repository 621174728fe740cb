import { randomUUID } from 'node:crypto';
import type { TagType } from '../api/enumerations.ts';
import { containsSecretPattern, sanitizeText, toTagValue } from '../shared/redaction/redact-text.ts';
import { createRedactor, type Redact } from '../shared/redaction/redactor.ts';
import { sanitize } from '../shared/redaction/sanitize.ts';
import type { EpochMillis } from '../shared/time.ts';
import {
  type ContentList,
  contentLists,
  type EventContent,
  type EventRecord,
  type ExternalCall,
  type RawEvent,
} from './event.ts';
import { limitContent, limitRawEvent } from './limit-event-size.ts';

/** Collects what one request was about while it is handled. */
export interface EventRecorder {
  readonly eventId: string;
  /** Adds rows to the lists of the content; a list keeps its first 100 and counts the others. */
  addContent(rows: Partial<Record<ContentList, readonly object[]>>): void;
  setAppDownload(versions: NonNullable<EventContent['appDownload']>): void;
  setUser(applicationUsername: string): void;
  /** Makes the event searchable by a value. */
  addTag(value: string, type: TagType): void;
  addExternalCall(call: ExternalCall): void;
  finish(end: FinishInput): { readonly event: EventRecord; readonly raw: RawEvent };
}

interface FinishInput {
  readonly request: { readonly route?: string; readonly [part: string]: unknown };
  readonly outcome: EventRecord['outcome'];
  readonly response: unknown;
  readonly error?: RawEvent['error'];
  /** The credentials of the request; no message keeps them. */
  readonly credentials?: readonly string[];
}

const maxRowsPerList = 100;
const maxTags = 60;

interface EventRecorderOptions {
  readonly type: string;
  readonly date: EpochMillis;
  readonly reqId?: string;
  /** Given where the work may be done again: its event is then written again, not a second time. */
  readonly eventId?: string;
}

export function createEventRecorder({
  type,
  date,
  reqId,
  eventId = randomUUID(),
}: EventRecorderOptions): EventRecorder {
  // Not an object: a user may be called `__proto__`.
  const tags = new Map<string, TagType>();
  const calls: ExternalCall[] = [];
  const lists = Object.fromEntries(contentLists.map((list) => [list, [] as object[]])) as Record<ContentList, object[]>;
  const omittedCounts: Record<string, number> = {};
  let versions: EventContent['appDownload'];
  let username: string | undefined;
  return {
    eventId,
    addContent(rows) {
      for (const [list, added] of Object.entries(rows) as [ContentList, readonly object[]][]) {
        const kept = added.slice(0, maxRowsPerList - lists[list].length);
        lists[list].push(...kept);
        if (added.length > kept.length) omittedCounts[list] = (omittedCounts[list] ?? 0) + added.length - kept.length;
      }
    },
    setAppDownload(known) {
      versions = known;
    },
    setUser(applicationUsername) {
      username = applicationUsername;
    },
    addTag(value, tagType) {
      if (value !== '' && tags.size < maxTags && !containsSecretPattern(value)) tags.set(toTagValue(value), tagType);
    },
    addExternalCall(call) {
      calls.push(call);
    },
    finish(end) {
      const known = reqId && !containsSecretPattern(reqId) ? reqId : undefined;
      if (known) tags.set(toTagValue(known), '_R');
      if (!end.outcome.ok) tags.set('error', '_X');
      // The last: a user may be called as a purchase is, as a request, or `error`, and is to be found as the user.
      if (username !== undefined) tags.set(toTagValue(username), '_A');
      const { asked: sanitizedRequest, scrub } = sanitizeRequest(end);
      const content = limitContent({
        ...sanitizeLists(lists, scrub),
        ...(Object.keys(omittedCounts).length > 0 && { trimmed: omittedCounts }),
        tags: Object.fromEntries(tags),
        ...(versions && { appDownload: versions }),
      });
      const base = { eventId, reqId: known ?? eventId, type, date, content };
      return {
        event: { ...base, ...toOutcome(end, scrub), ...(username !== undefined && { applicationUsername: username }) },
        raw: toRawEvent(end, { asked: sanitizedRequest, calls, scrub }),
      };
    },
  };
}

/** The request without its secrets, and what takes them out of everything else. */
function sanitizeRequest({ request, credentials = [] }: FinishInput) {
  const secrets = new Set(credentials);
  const { method, route, ...parts } = request;
  const inner = Object.entries(parts).map(([part, value]) => [part, sanitize(value, { secrets })]);
  return { asked: { method, route, ...Object.fromEntries(inner) } as object, scrub: createRedactor(secrets) };
}

function toOutcome(
  { request: { method, route }, outcome }: FinishInput,
  scrub: Redact,
): Pick<EventRecord, 'route' | 'outcome'> {
  const { message } = outcome;
  return {
    ...(route && { route: typeof method === 'string' ? `${method} ${route}` : route }),
    outcome: { ...outcome, ...(message !== undefined && { message: sanitizeText(scrub(message)) }) },
  };
}

function toRawEvent(
  { outcome, response, error }: FinishInput,
  { asked: sanitizedRequest, calls, scrub }: { asked: object; calls: readonly ExternalCall[]; scrub: Redact },
): RawEvent {
  return limitRawEvent({
    request: { ...sanitizedRequest },
    response: { status: outcome.status, body: sanitize(response, { scrub }) },
    ...(error && { error: { ...error, message: sanitizeText(scrub(error.message)) } }),
    externalRequests: calls.map((call) => ({ ...call, url: scrub(call.url) })),
  });
}

type SanitizedLists = Record<ContentList, Record<string, unknown>[]>;

const sanitizeLists = (lists: Record<ContentList, object[]>, scrub: Redact): SanitizedLists =>
  Object.fromEntries(
    contentLists.map((list) => [list, lists[list].map((row) => sanitize(row, { scrub }))]),
  ) as SanitizedLists;
