import type { TagType } from '../api/schemas.ts';
import { apiKeyPattern, type VerifiedKey } from '../apps/app.ts';
import type { ServiceError } from '../foundation/errors.ts';
import { createEventId } from '../foundation/event-id.ts';
import {
  containsSecretPattern,
  createRedactor,
  type Redact,
  sanitizeText,
  toTagValue,
} from '../foundation/redaction/redact-text.ts';
import { sanitize } from '../foundation/redaction/sanitize.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { FinishedEvent } from './build-spans.ts';
import {
  type ContentList,
  contentListNames,
  type EventContent,
  type EventRecord,
  type ExternalCall,
  limitContent,
  limitRawEvent,
  listUsernames,
  type RawEvent,
} from './event.ts';

/** Collects the content of an event while its request or job is handled. */
export interface EventRecorder {
  readonly eventId: string;
  /** Id that the client has sent with the request. Default: the id of the event. */
  readonly requestId: string;
  /** Adds rows to lists of the content. A list keeps its first 100 rows; `trimmed` counts the others. */
  addContent(rows: Partial<Record<ContentList, readonly object[]>>): void;
  setAppDownload(versions: NonNullable<EventContent['appDownload']>): void;
  setUser(applicationUsername: string): void;
  /** Replaces the type, if the request is of a different kind. */
  setType(type: string): void;
  /** Sets the key of the request. */
  setKey(key: VerifiedKey): void;
  /** Makes the event searchable by a value. Ignores empty values, secrets, and tags after the first 60. */
  addTag(value: string, type: TagType): void;
  addExternalCall(call: ExternalCall): void;
  finish(input: FinishInput): { readonly event: EventRecord; readonly raw: RawEvent };
}

interface FinishInput {
  readonly request: { readonly route?: string; readonly [part: string]: unknown };
  readonly outcome: Pick<EventRecord['outcome'], 'status' | 'ok'>;
  readonly response: unknown;
  readonly error?: Pick<ServiceError, 'code' | 'status' | 'message'> &
    Partial<Pick<ServiceError, 'isPermanent' | 'cause'>>;
  /** Credentials of the request; removed from all texts of the event. */
  readonly credentials?: readonly string[];
  readonly isRawOmitted?: boolean;
}

const maxRowsPerList = 100;
const maxTags = 60;

interface EventRecorderOptions {
  readonly type: string;
  readonly date: EpochMillis;
  readonly reqId?: string;
  /** Id for work that can be repeated: its event is then overwritten instead of written twice. */
  readonly eventId?: string;
}

export function createEventRecorder({
  type: initialType,
  date,
  reqId,
  eventId = createEventId(date),
}: EventRecorderOptions): EventRecorder {
  // A Map, because a username can be `__proto__`.
  const tags = new Map<string, TagType>();
  const calls: ExternalCall[] = [];
  const lists = Object.fromEntries(contentListNames.map((list) => [list, [] as object[]])) as Record<
    ContentList,
    object[]
  >;
  const omittedCounts: Record<string, number> = {};
  let versions: EventContent['appDownload'];
  let type = initialType;
  let username: string | undefined;
  let verifiedKey: VerifiedKey | undefined;
  const requestId = reqId && !containsSecretPattern(reqId) ? reqId : eventId;
  return {
    eventId,
    requestId,
    addContent(rows) {
      for (const [list, added] of Object.entries(rows) as [ContentList, readonly object[]][]) {
        const acceptedRows = added.slice(0, maxRowsPerList - lists[list].length);
        lists[list].push(...acceptedRows);
        if (added.length > acceptedRows.length)
          omittedCounts[list] = (omittedCounts[list] ?? 0) + added.length - acceptedRows.length;
      }
    },
    setAppDownload(appDownload) {
      versions = appDownload;
    },
    setUser(applicationUsername) {
      username = applicationUsername;
    },
    setType(newType) {
      type = newType;
    },
    setKey(key) {
      verifiedKey = key;
    },
    addTag(value, tagType) {
      if (value !== '' && tags.size < maxTags && !containsSecretPattern(value)) tags.set(toTagValue(value), tagType);
    },
    addExternalCall(call) {
      calls.push(call);
    },
    finish(input) {
      if (requestId !== eventId) tags.set(toTagValue(requestId), '_R');
      if (!input.outcome.ok) tags.set('error', '_X');
      const { sanitizedRequest, redact } = sanitizeRequest(input);
      const sanitizedLists = sanitizeLists(lists, redact);
      const raw = toRawEvent(input, { sanitizedRequest, calls, redact });
      // As a tag, an API key would stay readable.
      const safeUsername = username !== undefined && apiKeyPattern.test(username) ? undefined : username;
      // Last, because a username can equal a purchase id, a request id or `error`, and must stay searchable. Every
      // username in the event is a tag, however many there are: erasing a customer finds events by them.
      const named = listUsernames([sanitizedLists, input.isRawOmitted ? {} : raw]);
      for (const name of safeUsername === undefined ? named : [...named, safeUsername])
        tags.set(toTagValue(name), '_A');
      const content = limitContent({
        ...sanitizedLists,
        ...(Object.keys(omittedCounts).length > 0 && { trimmed: omittedCounts }),
        tags: Object.fromEntries(tags),
        ...(versions && { appDownload: versions }),
      });
      const base = { eventId, reqId: requestId, type, date, content };
      return {
        event: {
          ...base,
          ...toOutcome(input, redact),
          ...(safeUsername !== undefined && { applicationUsername: safeUsername }),
          ...(verifiedKey && { key: verifiedKey }),
        },
        raw,
      };
    },
  };
}

/** Removes the secrets of the request. `redact` removes them from the other texts of the event. */
function sanitizeRequest({ request, credentials = [] }: FinishInput) {
  const secrets = new Set(credentials);
  const { method, route, ...parts } = request;
  const inner = Object.entries(parts).map(([part, value]) => [part, sanitize(value, { secrets })]);
  const sanitizedRequest: object = { method, route, ...Object.fromEntries(inner) };
  return { sanitizedRequest, redact: createRedactor(secrets) };
}

function toOutcome(
  { request: { method, route }, outcome, error }: FinishInput,
  redact: Redact,
): Pick<EventRecord, 'route' | 'outcome'> {
  // The message for the client does not name the stored item that is not readable.
  const message = error?.isPermanent && error.cause ? `${error.message} ${error.cause}` : error?.message;
  return {
    ...(route && { route: typeof method === 'string' ? `${method} ${route}` : route }),
    outcome: { ...outcome, ...(message !== undefined && { message: sanitizeText(redact(message)) }) },
  };
}

function toRawEvent(
  { outcome, response, error }: FinishInput,
  { sanitizedRequest, calls, redact }: { sanitizedRequest: object; calls: readonly ExternalCall[]; redact: Redact },
): RawEvent {
  return limitRawEvent({
    request: { ...sanitizedRequest },
    response: { status: outcome.status, body: sanitize(response, { redact }) },
    ...(error && { error: { code: error.code, status: error.status, message: sanitizeText(redact(error.message)) } }),
    externalRequests: calls.map((call) => ({ ...call, url: redact(call.url) })),
  });
}

type SanitizedLists = Record<ContentList, Record<string, unknown>[]>;

const sanitizeLists = (lists: Record<ContentList, object[]>, redact: Redact): SanitizedLists =>
  Object.fromEntries(
    contentListNames.map((list) => [list, lists[list].map((row) => sanitize(row, { redact }))]),
  ) as SanitizedLists;

/** Sends the spans of an event, with the deployment option `otlpTracesUrl` only, which loads the code. Never fails. */
export async function exportSpans(service: Service, event: FinishedEvent): Promise<void> {
  if (service.spans) await (await import('./send-spans.ts')).sendSpans(service, event);
}
