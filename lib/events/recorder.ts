import { randomUUID } from 'node:crypto';
import type { Millis } from '../purchases/purchase.ts';
import { boundedContent, boundedRaw } from './bounds.ts';
import {
  type EventContent,
  type EventList,
  type EventRecord,
  type ExternalCall,
  eventLists,
  type RawEvent,
  type TagType,
} from './event.ts';
import { sanitize } from './sanitize.ts';
import { type Scrub, scrubOf } from './scrub.ts';
import { looksSecret, safeText, tagText } from './texts.ts';

/** Collects what one request was about while it is handled. */
export interface Recorder {
  readonly eventId: string;
  /** Adds rows to the lists of the content; a list keeps its first 100 and counts the others. */
  note(rows: Partial<Record<EventList, readonly object[]>>): void;
  appDownload(versions: NonNullable<EventContent['appDownload']>): void;
  user(applicationUsername: string): void;
  /** Makes the event searchable by a value. */
  tag(value: string, type: TagType): void;
  externalCall(call: ExternalCall): void;
  finish(end: Ending): { readonly event: EventRecord; readonly raw: RawEvent };
}

interface Ending {
  readonly request: { readonly route?: string; readonly [part: string]: unknown };
  readonly outcome: EventRecord['outcome'];
  readonly response: unknown;
  readonly error?: RawEvent['error'];
  /** The credentials of the request; no message keeps them. */
  readonly credentials?: readonly string[];
}

const longestList = 100;
const mostTags = 60;

interface Recording {
  readonly type: string;
  readonly date: Millis;
  readonly reqId?: string;
  /** Given where the work may be done again: its event is then written again, not a second time. */
  readonly eventId?: string;
}

export function newRecorder({ type, date, reqId, eventId = randomUUID() }: Recording): Recorder {
  // Not an object: a user may be called `__proto__`.
  const tags = new Map<string, TagType>();
  const calls: ExternalCall[] = [];
  const lists = Object.fromEntries(eventLists.map((list) => [list, [] as object[]])) as Record<EventList, object[]>;
  const leftOut: Record<string, number> = {};
  let versions: EventContent['appDownload'];
  let username: string | undefined;
  return {
    eventId,
    note(rows) {
      for (const [list, added] of Object.entries(rows) as [EventList, readonly object[]][]) {
        const kept = added.slice(0, longestList - lists[list].length);
        lists[list].push(...kept);
        if (added.length > kept.length) leftOut[list] = (leftOut[list] ?? 0) + added.length - kept.length;
      }
    },
    appDownload(known) {
      versions = known;
    },
    user(applicationUsername) {
      username = applicationUsername;
    },
    tag(value, tagType) {
      if (value !== '' && tags.size < mostTags && !looksSecret(value)) tags.set(tagText(value), tagType);
    },
    externalCall(call) {
      calls.push(call);
    },
    finish(end) {
      const known = reqId && !looksSecret(reqId) ? reqId : undefined;
      if (known) tags.set(tagText(known), '_R');
      if (!end.outcome.ok) tags.set('error', '_X');
      // The last: a user may be called as a purchase is, as a request, or `error`, and is to be found as the user.
      if (username !== undefined) tags.set(tagText(username), '_A');
      const { asked, scrub } = sanitizedRequest(end);
      const content = boundedContent({
        ...sanitizedLists(lists, scrub),
        ...(Object.keys(leftOut).length > 0 && { trimmed: leftOut }),
        tags: Object.fromEntries(tags),
        ...(versions && { appDownload: versions }),
      });
      const told = { eventId, reqId: known ?? eventId, type, date, content };
      return {
        event: { ...told, ...ending(end, scrub), ...(username !== undefined && { applicationUsername: username }) },
        raw: rawOf(end, { asked, calls, scrub }),
      };
    },
  };
}

/** The request without its secrets, and what takes them out of everything else. */
function sanitizedRequest({ request, credentials = [] }: Ending) {
  const secrets = new Set(credentials);
  const { method, route, ...parts } = request;
  const inner = Object.entries(parts).map(([part, value]) => [part, sanitize(value, { secrets })]);
  return { asked: { method, route, ...Object.fromEntries(inner) } as object, scrub: scrubOf(secrets) };
}

function ending({ request: { method, route }, outcome }: Ending, scrub: Scrub): Pick<EventRecord, 'route' | 'outcome'> {
  const { message } = outcome;
  return {
    ...(route && { route: typeof method === 'string' ? `${method} ${route}` : route }),
    outcome: { ...outcome, ...(message !== undefined && { message: safeText(scrub(message)) }) },
  };
}

function rawOf(
  { outcome, response, error }: Ending,
  { asked, calls, scrub }: { asked: object; calls: readonly ExternalCall[]; scrub: Scrub },
): RawEvent {
  return boundedRaw({
    request: { ...asked },
    response: { status: outcome.status, body: sanitize(response, { scrub }) },
    ...(error && { error: { ...error, message: safeText(scrub(error.message)) } }),
    externalRequests: calls.map((call) => ({ ...call, url: scrub(call.url) })),
  });
}

type Rows = Record<EventList, Record<string, unknown>[]>;

const sanitizedLists = (lists: Record<EventList, object[]>, scrub: Scrub): Rows =>
  Object.fromEntries(eventLists.map((list) => [list, lists[list].map((row) => sanitize(row, { scrub }))])) as Rows;
