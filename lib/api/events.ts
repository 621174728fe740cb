import * as v from 'valibot';
import { contract } from './contract.ts';
import { EventAnalysisResult, EventRawResult, EventSearchResult } from './event-records.ts';
import { given, Moment, wholeNumber } from './paging.ts';
import { Id } from './username.ts';

/** Every event that is skipped costs a read; further back, `enddate` leads there for nothing. */
const furthestSkip = 10_000;

const Rows = v.strictObject({ ok: v.literal(true), rows: v.array(EventSearchResult) });
const common = { area: 'events', method: 'GET', key: 'secret', dialect: 'default' } as const;
const params = v.object({ id: Id });
const receipts = v.optional(v.string());

export const listEvents = contract({
  ...common,
  id: 'list-events',
  summary: 'The latest events, newest first',
  path: '/v3/events',
  aliases: [],
  eventType: 'events.read',
  // Spec: not shown. All but `limit`; clients send these as to the other lists.
  query: v.object({
    limit: wholeNumber(1, 1000),
    skip: wholeNumber(0, furthestSkip),
    offset: wholeNumber(0, furthestSkip),
    startdate: given(Moment),
    enddate: given(Moment),
  }),
  response: Rows,
  isHeavy: true,
  needs: ['indexes'],
});

export const searchEvents = contract({
  ...common,
  id: 'search-events',
  summary: 'The latest events with a tag: a user, a purchase, a transaction, a request id, or `error`',
  path: '/v3/search/:tag',
  aliases: [],
  eventType: 'events.read',
  params: v.object({ tag: Id }),
  response: Rows,
  needs: [],
});

export const getEvent = contract({
  ...common,
  id: 'get-event',
  summary: 'An event, analyzed and raw',
  path: '/v3/events/:id',
  aliases: [],
  eventType: 'event.read',
  params,
  query: v.object({ receipts }),
  response: v.strictObject({ analysis: EventAnalysisResult, raw: EventRawResult }),
  needs: [],
});

export const getEventAnalysis = contract({
  ...common,
  id: 'get-event-analysis',
  summary: 'What an event was about',
  path: '/v3/events/:id/analysis',
  aliases: [],
  eventType: 'event.read',
  params,
  query: v.object({ receipts }),
  response: EventAnalysisResult,
  needs: [],
});

export const getEventRaw = contract({
  ...common,
  id: 'get-event-raw',
  summary: "An event's request, answer and calls to stores, sanitized",
  path: '/v3/events/:id/raw',
  aliases: [],
  eventType: 'event.read',
  params,
  response: EventRawResult,
  needs: [],
});
