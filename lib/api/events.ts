import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { EventAnalysisResult, EventRawResult, EventSearchResult } from './event-records.ts';
import { Id } from './identifiers.ts';
import { cursorParam, DateOrDateTime, integerParam, NextCursor } from './paging.ts';
import { emptyAsAbsent, QueryFlag } from './schemas.ts';

/** Each skipped event costs a read. Clients reach older events with `cursor` or `enddate`, which cost nothing. */
const maxSkip = 10_000;

// Spec: no cursor. Clients that ignore it get the same rows as before.
const EventRows = v.strictObject({ ok: v.literal(true), rows: v.array(EventSearchResult), nextCursor: NextCursor });

/** Selects a range and a page of events. `reads` is `false` for a list without the events of reads. */
const eventPageQuery = {
  startdate: emptyAsAbsent(DateOrDateTime),
  enddate: emptyAsAbsent(DateOrDateTime),
  reads: QueryFlag,
  cursor: cursorParam,
};
const common = { area: 'events', method: 'GET', keyLevel: 'secret', errorFormat: 'default' } as const;
const params = v.object({ id: Id });
const receipts = v.optional(v.string());

export const listEvents = defineContract({
  ...common,
  id: 'list-events',
  summary: 'List the latest events, newest first',
  path: '/v3/events',
  aliases: [],
  eventType: 'events.read',
  // Spec: shows `limit` only. Clients send the other parameters as they do for other lists.
  query: v.object({
    limit: integerParam(1, 1000),
    skip: integerParam(0, maxSkip),
    offset: integerParam(0, maxSkip),
    ...eventPageQuery,
  }),
  response: EventRows,
  isLongRunning: true,
  permissions: ['indexes'],
});

export const searchEvents = defineContract({
  ...common,
  id: 'search-events',
  summary: 'Search the latest events by a tag: a customer, a purchase, a transaction, a request id, or `error`',
  path: '/v3/search/:tag',
  aliases: [],
  eventType: 'events.read',
  params: v.object({ tag: Id }),
  query: v.object(eventPageQuery),
  response: EventRows,
  permissions: [],
});

export const getEvent = defineContract({
  ...common,
  id: 'get-event',
  summary: 'Get an event, analyzed and raw',
  path: '/v3/events/:id',
  aliases: [],
  eventType: 'event.read',
  params,
  query: v.object({ receipts }),
  response: v.strictObject({ analysis: EventAnalysisResult, raw: EventRawResult }),
  permissions: [],
});

export const getEventAnalysis = defineContract({
  ...common,
  id: 'get-event-analysis',
  summary: 'Get the analysis of an event',
  path: '/v3/events/:id/analysis',
  aliases: [],
  eventType: 'event.read',
  params,
  query: v.object({ receipts }),
  response: EventAnalysisResult,
  permissions: [],
});

export const getEventRaw = defineContract({
  ...common,
  id: 'get-event-raw',
  summary: "Get an event's sanitized request, response and store requests",
  path: '/v3/events/:id/raw',
  aliases: [],
  eventType: 'event.read',
  params,
  response: EventRawResult,
  permissions: [],
});
