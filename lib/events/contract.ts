import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { describeObject, describeOperation } from '../api/describe.ts';
import { EventAnalysisResult, EventRawResult, EventSearchResult } from '../api/event-records.ts';
import { Id } from '../api/identifiers.ts';
import { cursorParam, DateOrDateTime, integerParam, NextCursor } from '../api/paging.ts';
import { emptyAsAbsent, QueryFlag } from '../api/schemas.ts';

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

const EventDetails = v.strictObject({ analysis: EventAnalysisResult, raw: EventRawResult });

export const getEvent = defineContract({
  ...common,
  id: 'get-event',
  summary: 'Get an event, analyzed and raw',
  path: '/v3/events/:id',
  aliases: [],
  eventType: 'event.read',
  params,
  query: v.object({ receipts }),
  response: EventDetails,
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

const eventParams = { id: ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'] } as const;

const eventPage = {
  startdate: ['Selects events at or after this date.', '2026-01-01T00:00:00Z'],
  enddate: ['Selects events before this date.', '2026-02-01T00:00:00Z'],
  reads: ['`false` leaves out the events of reads, also of failed ones. The default is `true`.', 'false'],
  cursor: ['The `nextCursor` of the previous page. Absent for the first page.', 'MTc2ODQ2OTQwNTAwMCM0YjdlMWY2MA'],
} as const;

const boundedPages =
  'One request reads about 1,000 events at most, so a page can have few rows or none and still have a `nextCursor`.';

export const eventDescriptions = [
  describeObject('EventRows', EventRows, 'Events, newest first.', {
    ok: ['The constant true.', true],
    rows: ['The events.'],
    nextCursor: [
      'Cursor of the next page. Absent at the end of the list. A page without rows can have one.',
      'MTc2ODQ2OTQwNTAwMCM0YjdlMWY2MA',
    ],
  }),
  describeObject('EventDetails', EventDetails, 'An event, analyzed and raw.', {
    analysis: ['The analyzed content.'],
    raw: ['The sanitized request, response and store requests.'],
  }),
];

export const eventOperations = [
  describeOperation(listEvents, {
    description: `Lists the latest events of the app, newest first. Each request with valid credentials is an event. ${boundedPages}`,
    query: {
      limit: ['Maximum number of events. The default is 100.', 100],
      skip: ['Number of events to skip, including reads. Ignored if there is a `cursor`.', 0],
      offset: ['The same as `skip`, which takes precedence.', 0],
      ...eventPage,
    },
  }),
  describeOperation(searchEvents, {
    description: `Lists the latest events with a tag, newest first, 100 in a page. ${boundedPages}`,
    params: { tag: ['A username, an id of a purchase, transaction, product or request, or `error`.', 'alice'] },
    query: eventPage,
  }),
  describeOperation(getEvent, {
    description: 'Returns an event, analyzed and raw.',
    params: eventParams,
    query: { receipts: ['`true` includes the details of the validated receipt.', 'true'] },
  }),
  describeOperation(getEventAnalysis, {
    description: 'Returns the analyzed content of an event.',
    params: eventParams,
    query: { receipts: ['Any text that is not empty includes the details of the validated receipt.', 'true'] },
  }),
  describeOperation(getEventRaw, {
    description: 'Returns the sanitized request, response and store requests of an event.',
    params: eventParams,
  }),
];
