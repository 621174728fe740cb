import { describeObject, describeOperation } from '../describe.ts';
import {
  AppDownload,
  EventAnalysisResult,
  EventError,
  EventRawResult,
  EventSearchResult,
  ExternalRequest,
  RequestContent,
  RequestContext,
  RequestKey,
  RequestTiming,
} from '../event-records.ts';
import { getEvent, getEventAnalysis, getEventRaw, listEvents, searchEvents } from '../events.ts';

const eventId = ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'] as const;
const params = { id: eventId } as const;

export const eventDescriptions = [
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
  describeObject('EventRows', listEvents.response, 'Events, newest first.', {
    ok: ['The constant true.', true],
    rows: ['The events.'],
    nextCursor: [
      'Cursor of the next page. Absent at the end of the list. A page without rows can have one.',
      'MTc2ODQ2OTQwNTAwMCM0YjdlMWY2MA',
    ],
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
  describeObject('EventDetails', getEvent.response, 'An event, analyzed and raw.', {
    analysis: ['The analyzed content.'],
    raw: ['The sanitized request, response and store requests.'],
  }),
];

const eventPage = {
  startdate: ['Selects events at or after this date.', '2026-01-01T00:00:00Z'],
  enddate: ['Selects events before this date.', '2026-02-01T00:00:00Z'],
  reads: ['`false` leaves out the events of reads, also of failed ones. The default is `true`.', 'false'],
  cursor: ['The `nextCursor` of the previous page. Absent for the first page.', 'MTc2ODQ2OTQwNTAwMCM0YjdlMWY2MA'],
} as const;

const boundedPages =
  'One request reads about 1,000 events at most, so a page can have few rows or none and still have a `nextCursor`.';

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
    params,
    query: { receipts: ['`true` includes the details of the validated receipt.', 'true'] },
  }),
  describeOperation(getEventAnalysis, {
    description: 'Returns the analyzed content of an event.',
    params,
    query: { receipts: ['Any text that is not empty includes the details of the validated receipt.', 'true'] },
  }),
  describeOperation(getEventRaw, {
    description: 'Returns the sanitized request, response and store requests of an event.',
    params,
  }),
];
