import * as v from 'valibot';
import { contract } from './contract.ts';
import { EventAnalysisResult, EventRawResult, EventSearchResult } from './event-records.ts';
import { Id } from './username.ts';

/** Clients send what they have not got as an empty text. */
const given = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.literal(''),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

const wholeNumber = (least: number, most: number) =>
  given(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,9}$/, `a whole number from ${least} to ${most}`),
      v.transform(Number),
      v.minValue(least),
      v.maxValue(most),
    ),
  );

/** `2026-01-31` or a full ISO 8601 date-time, in UTC unless it says otherwise, as epoch milliseconds. */
const Moment = v.pipe(
  v.string(),
  v.regex(/^[12]\d{3}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/, 'a date or a date-time of ISO 8601'),
  v.transform((date) => Date.parse(/^[^T ]+[T ][^Z+-]+$/.test(date) ? `${date}Z` : date)),
  v.number(),
);

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
