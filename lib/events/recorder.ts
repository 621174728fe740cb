import { randomUUID } from 'node:crypto';
import type { Millis } from '../purchases/purchase.ts';
import type { EventContent, EventRecord, ExternalCall, RawEvent, TagType } from './event.ts';
import { sanitize, sanitizeText } from './sanitize.ts';

type Lists = 'products' | 'purchases' | 'transactions' | 'claims' | 'notifications' | 'refreshFailures';

/** Collects what one request was about while it is handled. */
export interface Recorder {
  readonly eventId: string;
  /** Adds rows to the lists of the content; a list keeps its first 100. */
  note(rows: Partial<Record<Lists, readonly object[]>>): void;
  appDownload(versions: NonNullable<EventContent['appDownload']>): void;
  user(applicationUsername: string): void;
  /** Makes the event searchable by a value. */
  tag(value: string, type: TagType): void;
  externalCall(call: ExternalCall): void;
  finish(end: Ending): { readonly event: EventRecord; readonly raw: RawEvent };
}

interface Ending {
  readonly request: object;
  readonly outcome: EventRecord['outcome'];
  readonly response: unknown;
  readonly error?: RawEvent['error'];
}

const longestList = 100;
const longestTag = 512;

export function newRecorder({ type, date, reqId }: { type: string; date: Millis; reqId?: string }): Recorder {
  const eventId = randomUUID();
  const tags: Record<string, TagType> = {};
  const calls: ExternalCall[] = [];
  const content: EventContent = {
    products: [],
    purchases: [],
    transactions: [],
    claims: [],
    notifications: [],
    refreshFailures: [],
    exchangeRates: [],
    tags,
  };
  let username: string | undefined;
  return {
    eventId,
    note(rows) {
      for (const [list, added] of Object.entries(rows) as [Lists, readonly object[]][]) {
        const room = longestList - content[list].length;
        content[list].push(...added.slice(0, room).map((row) => sanitize(row) as Record<string, unknown>));
      }
    },
    appDownload(versions) {
      content.appDownload = versions;
    },
    user(applicationUsername) {
      username = applicationUsername;
      tags[applicationUsername] = '_A';
    },
    tag(value, tagType) {
      tags[sanitizeText(value).slice(0, longestTag)] = tagType;
    },
    externalCall(call) {
      calls.push(call);
    },
    finish({ request, outcome, response, error }) {
      if (reqId) tags[sanitizeText(reqId)] = '_R';
      if (!outcome.ok) tags.error = '_X';
      const event = { eventId, reqId: reqId ?? eventId, type, date, outcome, content };
      return {
        event: { ...event, ...(username !== undefined && { applicationUsername: username }) },
        raw: {
          request: sanitizeParts(request),
          response: { status: outcome.status, body: sanitize(response) },
          ...(error && { error }),
          externalRequests: calls,
        },
      };
    },
  };
}

/** `method`, `route`, `params`, `query` and `body` stay as they are named; what is inside each is sanitized. */
const sanitizeParts = (request: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(request).map(([part, value]) => [part, sanitize(value)]));
