import * as v from 'valibot';
import { TagType } from '../api/enumerations.ts';

const Rows = v.array(v.looseObject({}));

/** The lists of a content. */
export const contentLists = [
  'products',
  'purchases',
  'transactions',
  'claims',
  'notifications',
  'refreshFailures',
  'exchangeRates',
] as const;
export type ContentList = (typeof contentLists)[number];

/** What an event was about; every list is there, empty or not. */
export const EventContent = v.object({
  products: Rows,
  purchases: Rows,
  transactions: Rows,
  claims: Rows,
  notifications: Rows,
  refreshFailures: Rows,
  exchangeRates: Rows,
  tags: v.record(v.string(), TagType),
  /** How many rows of a list were left out, where some were. */
  trimmed: v.exactOptional(v.record(v.string(), v.number())),
  appDownload: v.exactOptional(
    v.object({ currentVersion: v.exactOptional(v.string()), originalVersion: v.exactOptional(v.string()) }),
  ),
});
export type EventContent = v.InferOutput<typeof EventContent>;

/** A call to a store, as an event shows it: no credential, no query, long path segments cut. */
export const ExternalCall = v.object({
  type: v.string(),
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

/** A record of one request that the service handled. */
export const EventRecord = v.object({
  eventId: v.string(),
  reqId: v.string(),
  type: v.string(),
  /** Epoch milliseconds. */
  date: v.number(),
  applicationUsername: v.exactOptional(v.string()),
  /** Where the raw view is not kept, as with reads, this is what there is of the request. */
  route: v.exactOptional(v.string()),
  outcome: v.object({ status: v.number(), ok: v.boolean(), message: v.exactOptional(v.string()) }),
  content: EventContent,
});
export type EventRecord = v.InferOutput<typeof EventRecord>;
