import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { cursorParam, DateOrDateTime, integerParam, NextCursor } from '../api/paging.ts';
import { contentLists, DateTime, emptyAsAbsent, Id, OptionalText, QueryFlag, TagType } from '../api/schemas.ts';
import { RequestKey } from '../apps/api-key-contract.ts';

const Rows = v.array(v.looseObject({}));

export const RequestContext = v.strictObject({
  appName: v.string(),
  eventType: v.string(),
  eventDate: DateTime,
  eventDateMs: v.number(),
  applicationUsername: OptionalText,
  req_id: OptionalText,
  // Spec: not shown. The key of the request.
  key: v.exactOptional(RequestKey),
  /** Adds the details of a receipt validation. */
  includeHeavyData: v.boolean(),
});
export type RequestContext = v.InferOutput<typeof RequestContext>;

/** Versions of the app that a store reports for the app receipt. */
const AppDownload = v.strictObject({
  currentVersion: OptionalText,
  originalVersion: OptionalText,
});

export const RequestContent = v.strictObject({
  ...contentLists,
  tags: v.record(v.string(), TagType),
  appDownload: v.exactOptional(AppDownload),
  // Spec: not shown. `trimmed` counts the omitted rows of each list. `receipts` has the details of a validation.
  trimmed: v.exactOptional(v.record(v.string(), v.number())),
  receipts: v.exactOptional(Rows),
});
export type RequestContent = v.InferOutput<typeof RequestContent>;

export const EventSearchResult = v.strictObject({
  tag: v.string(),
  /** Empty in lists. */
  type: v.union([TagType, v.literal('')]),
  eventId: v.string(),
  context: RequestContext,
  content: RequestContent,
});
export type EventSearchResult = v.InferOutput<typeof EventSearchResult>;

export const EventAnalysisResult = v.strictObject({
  eventId: v.string(),
  context: RequestContext,
  content: RequestContent,
});
export type EventAnalysisResult = v.InferOutput<typeof EventAnalysisResult>;

const LooseObject = v.looseObject({});

/** Start and end of a request, in epoch milliseconds. */
const RequestTiming = v.strictObject({ startedAt: v.number(), endedAt: v.number() });

/** A request of the service to a store or to the app's server. */
const ExternalRequest = v.strictObject({
  type: v.string(),
  // Spec: not shown. The called store.
  platform: OptionalText,
  url: v.string(),
  method: v.string(),
  body: v.exactOptional(LooseObject),
  response: v.exactOptional(LooseObject),
  error: v.exactOptional(LooseObject),
  timing: RequestTiming,
});

/** The error of a failed request. */
const EventError = v.strictObject({ code: v.string(), status: v.number(), message: v.string() });

export const EventRawResult = v.strictObject({
  eventId: v.string(),
  date: DateTime,
  type: v.string(),
  request: v.exactOptional(LooseObject),
  response: v.exactOptional(LooseObject),
  error: v.exactOptional(EventError),
  externalRequests: v.exactOptional(v.array(ExternalRequest)),
});
export type EventRawResult = v.InferOutput<typeof EventRawResult>;

/** The response to a recorded request. */
const EventResponse = v.strictObject({ status: v.number(), ok: v.boolean(), message: v.string() });

/** The content of an event, in a few fields. */
const EventSummary = v.strictObject({
  date: DateTime,
  type: v.string(),
  productIds: v.exactOptional(v.array(v.string())),
  purchaseIds: v.exactOptional(v.array(v.string())),
  response: EventResponse,
});

export const EventInfo = v.strictObject({
  eventId: v.string(),
  eventInfo: EventSummary,
});
export type EventInfo = v.InferOutput<typeof EventInfo>;

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
  summary: 'Search the latest events by a tag',
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

const eventId = ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'] as const;
const eventParams = { id: eventId };

const eventPage = {
  startdate: ['Selects events at or after this date.', '2026-01-01T00:00:00Z'],
  enddate: ['Selects events before this date.', '2026-02-01T00:00:00Z'],
  reads: ['`false` leaves out the events of reads, also of failed ones. The default is `true`.', 'false'],
  cursor: ['The `nextCursor` of the previous page. Absent for the first page.', 'MTc2ODQ2OTQwNTAwMCM0YjdlMWY2MA'],
} as const;

const boundedPages =
  'One request reads about 1,000 events at most, so a page can have few rows or none and still have a `nextCursor`.';

const descriptions = [
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
  describeObject('RequestContext', RequestContext, 'Circumstances of an event.', {
    appName: ['Name of the app.', 'demo'],
    eventType: ['Type of the event.', 'receipt.validated'],
    eventDate: ['Date of the event.', '2026-01-15T09:30:05.000Z'],
    eventDateMs: ['Date of the event in epoch milliseconds.', 1768469405000],
    applicationUsername: ['The customer of the event.', 'alice'],
    req_id: [
      'Request id: the `X-Request-Id` of the request, else the event id.',
      '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10',
    ],
    key: ['The API key of the request. Absent for store notifications and jobs.'],
    includeHeavyData: ['The content includes the details of the receipt.', false],
  }),
  describeObject('AppDownload', AppDownload, 'Versions of the app in an app receipt.', {
    currentVersion: ['Version that created the receipt.', '2.1'],
    originalVersion: ['Version that the customer first downloaded.', '1.0'],
  }),
  describeObject('RequestContent', RequestContent, 'Content of an event, without receipts and credentials.', {
    products: ['Products, each with `id`.', [{ id: 'store_a:premium' }]],
    purchases: [
      'Purchases, each with `purchaseId`.',
      [{ purchaseId: 'store_a:2000000123456789', platform: 'store_a' }],
    ],
    transactions: ['Transactions, each with `transactionId`.', [{ transactionId: 'store_a:2000000987654321' }]],
    claims: [
      'Claims of customers on purchases.',
      [{ applicationUsername: 'alice', purchaseId: 'store_a:2000000123456789' }],
    ],
    notifications: ['Lifecycle notifications.', [{ reason: 'PURCHASED' }]],
    refreshFailures: ['Failed queries of stores.', []],
    exchangeRates: ['Exchange rates that were used.', []],
    tags: ['Kind of each tag by its value.', { alice: '_A' }],
    appDownload: ['Versions of the app.'],
    trimmed: ['Number of omitted rows by list. Absent if the event is complete.', { purchases: 40 }],
    receipts: ['Details of the validated receipt, only on request.', [{ id: 'premium', type: 'paid subscription' }]],
  }),
  describeObject('EventSearchResult', EventSearchResult, 'An event in a list or search.', {
    tag: ['The searched tag. Empty in lists.', 'alice'],
    type: ['Kind of the tag. Empty in lists.', '_A'],
    eventId,
    context: ['Circumstances of the event.'],
    content: ['Content of the event.'],
  }),
  describeObject('EventAnalysisResult', EventAnalysisResult, 'The analyzed content of an event.', {
    eventId,
    context: ['Circumstances of the event.'],
    content: ['Content of the event.'],
  }),
  describeObject('RequestTiming', RequestTiming, 'Start and end of a request.', {
    startedAt: ['Start in epoch milliseconds.', 1768469405000],
    endedAt: ['End in epoch milliseconds.', 1768469405180],
  }),
  describeObject('ExternalRequest', ExternalRequest, 'A request of the service to a store or to your server.', {
    type: ['Kind of the request.', 'store'],
    platform: ['The called store. Absent for webhooks.', 'store_a'],
    url: [
      'URL without query, with long path segments shortened.',
      'https://api.storekit.itunes.apple.com/inApps/v1/subscriptions/…',
    ],
    method: ['HTTP method.', 'GET'],
    body: ['Body of the request, sanitized.', { page: 1 }],
    response: ['Status and size of the response.', { status: 200, size: 5120 }],
    error: ['Why there was no usable response.', { message: 'The request timed out.' }],
    timing: ['Start and end of the request.'],
  }),
  describeObject('EventError', EventError, 'The error of a failed request.', {
    code: ['Error code.', 'PurchaseExpired'],
    status: ['HTTP status of the code.', 419],
    message: ['Error message.', 'Transaction has expired or was cancelled.'],
  }),
  describeObject(
    'EventRawResult',
    EventRawResult,
    'The request, response and store requests of an event. Receipts, signatures, keys and tokens are removed.',
    {
      eventId,
      date: ['Date of the event.', '2026-01-15T09:30:05.000Z'],
      type: ['Type of the event.', 'receipt.validated'],
      request: ['Method, route, query, path parameters and body.', { method: 'POST', route: '/v1/validate' }],
      response: ['Status and body.', { status: 200 }],
      error: ['The error. Absent if the request succeeded.'],
      externalRequests: ['Requests to stores, in the order of their start.'],
    },
  ),
  describeObject('EventResponse', EventResponse, 'The response to a recorded request.', {
    status: ['HTTP status.', 200],
    ok: ['The request succeeded.', true],
    message: ['Why it failed, or an empty string.', ''],
  }),
  describeObject('EventSummary', EventSummary, 'The content of an event in a few fields.', {
    date: ['Date of the event.', '2026-01-15T09:30:05.000Z'],
    type: ['Type of the event.', 'receipt.validated'],
    productIds: ['Products of the event, with platform prefix.', ['store_a:premium']],
    purchaseIds: ['Purchases of the event, with platform prefix.', ['store_a:2000000123456789']],
    response: ['The response to the request.'],
  }),
  describeObject('CustomerEvent', EventInfo, 'A recent event of a customer.', {
    eventId: ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'],
    eventInfo: ['The content of the event.'],
  }),
];

const operations = [
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
    errors: { 404: ['The event is not found.'] },
  }),
  describeOperation(getEventAnalysis, {
    description: 'Returns the analyzed content of an event.',
    params: eventParams,
    query: { receipts: ['Any text that is not empty includes the details of the validated receipt.', 'true'] },
    errors: { 404: ['The event is not found.'] },
  }),
  describeOperation(getEventRaw, {
    description: 'Returns the sanitized request, response and store requests of an event.',
    params: eventParams,
    errors: { 404: ['The event is not found.'] },
  }),
];

export const eventApi: ApiPart = { descriptions, operations };
