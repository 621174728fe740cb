import * as v from 'valibot';
import { describeObject } from './describe.ts';
import { TagType } from './enumerations.ts';
import { DateTime } from './schemas.ts';

const Rows = v.array(v.looseObject({}));

/** Name and level of an API key. */
export const RequestKey = v.strictObject({
  id: v.string(),
  name: v.string(),
  level: v.picklist(['public', 'secret', 'viewer', 'support']),
});

export const RequestContext = v.strictObject({
  appName: v.string(),
  eventType: v.string(),
  eventDate: DateTime,
  eventDateMs: v.number(),
  applicationUsername: v.exactOptional(v.string()),
  req_id: v.exactOptional(v.string()),
  // Spec: not shown. The key of the request.
  key: v.exactOptional(RequestKey),
  /** Whether the content includes the details of a receipt validation. */
  includeHeavyData: v.boolean(),
});
export type RequestContext = v.InferOutput<typeof RequestContext>;

/** Lists of an event's content. All are always present, because clients loop over them without a check. */
export const contentLists = {
  products: Rows,
  purchases: Rows,
  transactions: Rows,
  claims: Rows,
  notifications: Rows,
  refreshFailures: Rows,
  exchangeRates: Rows,
};

/** Versions of the app that a store reports for the app receipt. */
const AppDownload = v.strictObject({
  currentVersion: v.exactOptional(v.string()),
  originalVersion: v.exactOptional(v.string()),
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
  platform: v.exactOptional(v.string()),
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

const eventId = ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'] as const;

export const eventRecordDescriptions = [
  describeObject('RequestKey', RequestKey, 'The API key of a request. The key itself is never returned.', {
    id: ['Id of the key.', 'k_7d2f'],
    name: ['Name that the operator gave the key.', 'server'],
    level: ['Level of the key.', 'secret'],
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
    includeHeavyData: ['Whether the content includes the details of the receipt.', false],
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
];
