import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { EventAnalysisResult, EventRawResult, EventSearchResult } from './event-records.ts';
import { Id } from './identifiers.ts';
import { DateOrDateTime, emptyAsAbsent, integerParam } from './paging.ts';

/** Every event that is skipped costs a read; further back, `enddate` leads there for nothing. */
const maxSkip = 10_000;

const EventRows = v.strictObject({ ok: v.literal(true), rows: v.array(EventSearchResult) });
const common = { area: 'events', method: 'GET', keyLevel: 'secret', errorFormat: 'default' } as const;
const params = v.object({ id: Id });
const receipts = v.optional(v.string());

export const listEvents = defineContract({
  ...common,
  id: 'list-events',
  summary: 'The latest events, newest first',
  path: '/v3/events',
  aliases: [],
  eventType: 'events.read',
  // Spec: not shown. All but `limit`; clients send these as to the other lists.
  query: v.object({
    limit: integerParam(1, 1000),
    skip: integerParam(0, maxSkip),
    offset: integerParam(0, maxSkip),
    startdate: emptyAsAbsent(DateOrDateTime),
    enddate: emptyAsAbsent(DateOrDateTime),
  }),
  response: EventRows,
  isLongRunning: true,
  permissions: ['indexes'],
});

export const searchEvents = defineContract({
  ...common,
  id: 'search-events',
  summary: 'The latest events with a tag: a user, a purchase, a transaction, a request id, or `error`',
  path: '/v3/search/:tag',
  aliases: [],
  eventType: 'events.read',
  params: v.object({ tag: Id }),
  response: EventRows,
  permissions: [],
});

export const getEvent = defineContract({
  ...common,
  id: 'get-event',
  summary: 'An event, analyzed and raw',
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
  summary: 'What an event was about',
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
  summary: "An event's request, answer and calls to stores, sanitized",
  path: '/v3/events/:id/raw',
  aliases: [],
  eventType: 'event.read',
  params,
  response: EventRawResult,
  permissions: [],
});
