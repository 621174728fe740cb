import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation, webhookPassword } from '../api/describe.ts';
import { cursorParam, DateOrDateTime, integerParam, NextCursor } from '../api/paging.ts';
import {
  DateTime,
  emptyAsAbsent,
  Id,
  OptionalBoolean,
  OptionalDateTime,
  OptionalNumber,
  OptionalText,
  PlatformParam,
  Username,
} from '../api/schemas.ts';
import { EntitlementRecords } from '../entitlements/contract.ts';
import { Platform } from '../foundation/platform.ts';
import { PurchaseCollection } from '../purchases/purchase-contract.ts';
import { storeRequestTypes } from '../stores/store-request-contract.ts';

// Spec: not shown. The deliveries of webhooks, for the console and the command line.
const common = { area: 'webhooks', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;
const params = v.object({ id: Id });

/** What caused a webhook. */
const DeliveryNotification = v.strictObject({
  id: v.string(),
  reason: v.string(),
  date: DateTime,
  productId: OptionalText,
  purchaseId: OptionalText,
  transactionId: OptionalText,
});

/** `forward`: a store notification that is sent on as the store sent it. */
export const DeliveryType = v.picklist([
  'purchases.updated',
  'refund.requested',
  'credits.updated',
  ...storeRequestTypes,
  'test',
  'forward',
]);

/** One webhook for one URL. */
export const DeliveryRecord = v.strictObject({
  /** Sent as `webhook-id`, the same for all attempts. */
  deliveryId: v.string(),
  type: DeliveryType,
  state: v.picklist(['pending', 'delivered', 'dead', 'redirected']),
  /** Without query, and with long path segments shortened, because they can contain credentials. */
  url: v.string(),
  applicationUsername: OptionalText,
  notification: DeliveryNotification,
  /** Date of the creation, or of the last replay. */
  createdAt: DateTime,
  failedAttempts: v.number(),
  lastAttemptAt: OptionalDateTime,
  nextAttemptAt: OptionalDateTime,
  lastHttpStatus: OptionalNumber,
  failureReason: OptionalText,
});
export type DeliveryRecord = v.InferOutput<typeof DeliveryRecord>;

/** The headers and the body of a webhook, without secrets. */
const SentWebhook = v.strictObject({ headers: v.looseObject({}), body: v.looseObject({}) });

/** One request to the app's server. */
export const DeliveryAttemptRecord = v.strictObject({
  eventId: v.string(),
  date: DateTime,
  durationMs: v.number(),
  ok: v.boolean(),
  /** HTTP status. Absent without a response. */
  status: OptionalNumber,
  /** Start of the response body. */
  response: OptionalText,
  /** Why the response is missing, or why it is a failure. */
  error: OptionalText,
  /** What was sent, without secrets. */
  request: v.exactOptional(SentWebhook),
});
export type DeliveryAttemptRecord = v.InferOutput<typeof DeliveryAttemptRecord>;

const DeliveryList = v.strictObject({ rows: v.array(DeliveryRecord), nextCursor: NextCursor });

export const listDeliveries = defineContract({
  ...common,
  id: 'list-deliveries',
  summary: 'List webhook deliveries, newest first',
  method: 'GET',
  path: '/v3/webhooks/deliveries',
  eventType: 'webhooks.read',
  query: v.object({
    /** `pending` selects deliveries that wait for a retry. */
    state: emptyAsAbsent(v.picklist(['pending', 'delivered', 'dead', 'redirected'])),
    /** Selects the attempted deliveries of a customer, by the date of the last attempt. */
    applicationUsername: emptyAsAbsent(Username),
    url: v.optional(v.string()),
    startdate: emptyAsAbsent(DateOrDateTime),
    enddate: emptyAsAbsent(DateOrDateTime),
    limit: integerParam(1, 200),
    cursor: cursorParam,
  }),
  response: DeliveryList,
  isLongRunning: true,
  permissions: ['indexes'],
});

/** The latest delivery that has not succeeded. */
const UrlFailure = v.strictObject({ deliveryId: v.string(), date: DateTime, message: v.string() });

/** Deliveries to one URL that were attempted, or are dead. */
const WebhookUrlStats = v.strictObject({
  url: v.string(),
  numDeliveries: v.number(),
  numFailed: v.number(),
  failedAttempts: v.number(),
  /** Time from the creation of a delivery to its successful attempt. Absent without one. */
  medianMs: OptionalNumber,
  percentile95Ms: OptionalNumber,
  lastFailure: v.exactOptional(UrlFailure),
});

const WebhookStats = v.strictObject({
  countedFrom: DateTime,
  isComplete: v.boolean(),
  rows: v.array(WebhookUrlStats),
});

export const getWebhookStats = defineContract({
  ...common,
  id: 'get-webhook-stats',
  summary: 'Get the deliveries, failures and delivery times of each webhook URL',
  method: 'GET',
  path: '/v3/webhooks/stats',
  eventType: 'webhooks.read',
  query: v.object({ startdate: emptyAsAbsent(DateOrDateTime), enddate: emptyAsAbsent(DateOrDateTime) }),
  response: WebhookStats,
  isLongRunning: true,
  permissions: ['indexes'],
});

const DeliveryDetails = v.strictObject({ ...DeliveryRecord.entries, attempts: v.array(DeliveryAttemptRecord) });

export const getDelivery = defineContract({
  ...common,
  id: 'get-delivery',
  summary: 'Get a webhook delivery with its attempts, newest first',
  method: 'GET',
  path: '/v3/webhooks/deliveries/:id',
  eventType: 'webhooks.read',
  params,
  response: DeliveryDetails,
  permissions: [],
});

const ReplayedDelivery = v.strictObject({ ok: v.literal(true), delivery: DeliveryRecord });

export const replayDelivery = defineContract({
  ...common,
  id: 'replay-delivery',
  summary: 'Send a webhook delivery again, with its original number of attempts',
  method: 'POST',
  path: '/v3/webhooks/deliveries/:id/replay',
  eventType: 'webhook.replayed',
  params,
  response: ReplayedDelivery,
  additionalLevels: ['support'],
  permissions: ['write', 'webhooks'],
  writes: ['deliveries'],
});

const ReplayRequest = v.object({
  startdate: DateOrDateTime,
  /** A replay renews the date of a delivery, so the same request replays nothing twice. */
  enddate: DateOrDateTime,
  /** `pending` selects deliveries that wait for a retry. */
  state: v.optional(v.picklist(['pending', 'dead', 'delivered']), 'dead'),
  /** The URL, or the form in which responses contain it. All URLs by default. */
  url: OptionalText,
});

const ReplayResult = v.strictObject({
  ok: v.literal(true),
  replayed: v.number(),
  /** If false, repeat the request for the rest of the range. */
  isComplete: v.boolean(),
});

export const replayDeliveries = defineContract({
  ...common,
  id: 'replay-deliveries',
  summary: 'Send the webhook deliveries of a date range again',
  method: 'POST',
  path: '/v3/webhooks/replay',
  eventType: 'webhook.replayed',
  body: ReplayRequest,
  response: ReplayResult,
  isLongRunning: true,
  additionalLevels: ['support'],
  permissions: ['write', 'webhooks', 'indexes'],
  writes: ['deliveries'],
});

const TestDeliveries = v.strictObject({ ok: v.literal(true), deliveries: v.array(DeliveryRecord) });

export const testWebhook = defineContract({
  ...common,
  id: 'test-webhook',
  summary: 'Send a test webhook to all URLs of the app',
  method: 'POST',
  path: '/v3/webhooks/test',
  eventType: 'webhook.tested',
  response: TestDeliveries,
  permissions: ['write', 'webhooks'],
  writes: ['deliveries'],
});

// Spec: the request id of an event. The id of the event and the id of a notification are accepted, too.
const WebhookRepetition = v.object({ reqId: Id });

// Spec: not shown.
const Success = v.strictObject({ ok: v.literal(true) });

export const repeatWebhook = defineContract({
  id: 'repeat-webhook',
  area: 'webhooks',
  summary: 'Send the webhook of a past request again',
  method: 'POST',
  path: '/v3/notifier/app-webhooks',
  aliases: ['/v3/notifier/app-webhook'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'webhook.repeated',
  body: WebhookRepetition,
  response: Success,
  additionalLevels: ['support'],
  permissions: ['write', 'webhooks'],
  writes: ['deliveries'],
});

/** A URL that receives store notifications as the stores sent them. */
const ForwardRecord = v.object({
  url: v.string(),
  platforms: v.exactOptional(v.array(Platform)),
  includesAuthorization: OptionalBoolean,
});

/** A forward in a request: brand names of platforms are accepted. */
const ForwardRequest = v.object({
  url: v.string(),
  platforms: v.exactOptional(v.array(PlatformParam)),
  includesAuthorization: OptionalBoolean,
});

// Spec: not shown. The forwards of store notifications.
export const getForwards = defineContract({
  ...common,
  id: 'get-forwards',
  summary: 'Get the URLs that receive the notifications of the stores',
  method: 'GET',
  path: '/v3/forwards',
  eventType: 'app.read',
  response: v.array(ForwardRecord),
  permissions: [],
});

export const setForwards = defineContract({
  ...common,
  id: 'set-forwards',
  summary: 'Replace the URLs that receive the notifications of the stores',
  method: 'PUT',
  path: '/v3/forwards',
  eventType: 'app.changed',
  body: v.array(ForwardRequest),
  response: v.array(ForwardRecord),
  permissions: ['write'],
  writes: ['catalogue', 'urlHealth'],
});

const notificationFields = {
  id: [
    'Id of the notification. One notification can cause several webhooks, one for each entitled customer.',
    '9f86d081884c7d659a2feaa0c55ad015',
  ],
  reason: ['Kind of the change, such as `PURCHASED`, `RENEWED`, `EXPIRED` or `REFUNDED`.', 'RENEWED'],
  date: ['Date of the change.', '2026-02-15T09:30:00Z'],
  productId: ['Product of the change, with platform prefix.', 'store_a:premium'],
  purchaseId: ['Purchase of the change, with platform prefix.', 'store_a:2000000123456789'],
  transactionId: ['Transaction of the change, with platform prefix.', 'store_a:2000000987654321'],
} as const;

const deliveryFields = {
  deliveryId: [
    'Id of the delivery, sent as `webhook-id`: the same for all attempts.',
    '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e',
  ],
  type: ['Type of the webhook.', 'purchases.updated'],
  state: [
    '`pending`: waits for an attempt. `dead`: has no further attempt. `redirected`: its URL was replaced.',
    'delivered',
  ],
  url: ['URL without query, with long path segments shortened.', 'https://api.example.org/purchases'],
  applicationUsername: ['The customer. Absent for a test.', 'alice'],
  notification: ['What caused the webhook.'],
  createdAt: ['Date of the creation, or of the last replay.', '2026-02-15T09:30:05.000Z'],
  failedAttempts: ['Number of failed attempts.', 0],
  lastAttemptAt: ['Date of the last attempt. Absent before the first one.', '2026-02-15T09:30:06.000Z'],
  nextAttemptAt: ['Earliest date of the next attempt.', '2026-02-15T09:35:06.000Z'],
  lastHttpStatus: ["Status of your server's last response.", 200],
  failureReason: ['Why the last attempt failed, or why there is no other one.', 'The server responded with 500.'],
} as const;

/** A webhook to the app's server about a purchase. `buildWebhookBody` creates the fields. */
export const PurchasesUpdatedWebhook = v.strictObject({
  type: v.literal('purchases.updated'),
  password: OptionalText,
  notification: DeliveryNotification,
  applicationUsername: v.string(),
  purchases: PurchaseCollection,
  entitlements: v.exactOptional(EntitlementRecords),
  entitlementsChanged: v.exactOptional(v.array(v.string())),
});

/** A webhook that checks the connection to the app's server. */
export const TestWebhook = v.strictObject({ type: v.literal('test'), password: OptionalText });

const descriptions = [
  describeObject('WebhookNotification', DeliveryNotification, 'What caused a webhook.', notificationFields),
  describeObject('Delivery', DeliveryRecord, 'A webhook for one URL.', deliveryFields),
  describeObject('SentWebhook', SentWebhook, 'A webhook as it was sent, without secrets.', {
    headers: ['The headers.', { 'webhook-id': '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e' }],
    body: ['The body.', { type: 'purchases.updated', applicationUsername: 'alice' }],
  }),
  describeObject('DeliveryAttempt', DeliveryAttemptRecord, 'A request to your server.', {
    eventId: ['Id of the event that records the attempt.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e-mkffk2g8'],
    date: ['Date of the attempt.', '2026-02-15T09:30:06.000Z'],
    durationMs: ['Duration in milliseconds.', 120],
    ok: ['Your server accepted the webhook.', true],
    status: ['HTTP status. Absent if there was no response.', 200],
    response: ['Start of the response body.', 'ok'],
    error: ['Why there was no response, or why it is a failure.', 'The server responded with 500.'],
    request: ['What was sent.'],
  }),
  describeObject('DeliveryList', DeliveryList, 'A page of deliveries, newest first.', {
    rows: ['The deliveries of the page.'],
    nextCursor: ['Cursor of the next page. Absent at the end of the list.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
  }),
  describeObject('WebhookUrlFailure', UrlFailure, 'A delivery that has not succeeded.', {
    deliveryId: ['Id of the delivery.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e'],
    date: ['Date of its last attempt, or of its creation if there was none.', '2026-02-15T09:30:06.000Z'],
    message: ['Why it failed.', 'The server responded with 500.'],
  }),
  describeObject('WebhookUrlStats', WebhookUrlStats, 'The deliveries to a URL that were attempted, or are dead.', {
    url: ['URL without query, with long path segments shortened.', 'https://api.example.org/purchases'],
    numDeliveries: ['Number of deliveries.', 840],
    numFailed: ['Number of them that wait for a retry or are dead.', 2],
    failedAttempts: ['Number of failed attempts of all of them.', 17],
    medianMs: [
      'Median time from the creation of a delivery to its successful attempt, in milliseconds. Absent without one.',
      410,
    ],
    percentile95Ms: ['The time that 95 % of the deliveries do not exceed, in milliseconds.', 1900],
    lastFailure: ['The latest failed delivery. Absent if all deliveries have succeeded.'],
  }),
  describeObject('WebhookStats', WebhookStats, 'Deliveries of a period by URL.', {
    countedFrom: ['Start of the counted deliveries.', '2026-02-08T09:30:00.000Z'],
    isComplete: ['All deliveries of the period are counted. Otherwise these are the newest 1,000.', true],
    rows: ['The URLs of the settings and of the deliveries.'],
  }),
  describeObject('DeliveryDetails', DeliveryDetails, 'A delivery with its attempts.', {
    ...deliveryFields,
    attempts: ['The attempts, newest first.'],
  }),
  describeObject('ReplayedDelivery', ReplayedDelivery, 'The delivery that is sent again.', {
    ok: ['The constant true.', true],
    delivery: ['The delivery.'],
  }),
  describeObject('ReplayRequest', ReplayRequest, 'Selects the deliveries to send again.', {
    startdate: ['Selects deliveries at or after this date.', '2026-02-15T00:00:00Z'],
    enddate: [
      'Selects deliveries before this date. A replay renews the date, so a repeated request replays nothing twice.',
      '2026-02-16T00:00:00Z',
    ],
    state: [
      'State of the deliveries: `pending` (they wait for a retry), `dead` or `delivered`. The default is `dead`.',
      'dead',
    ],
    url: ['Selects the deliveries with this `url`. All URLs by default.', 'https://api.example.org/purchases'],
  }),
  describeObject('ReplayResult', ReplayResult, 'Result of a replay.', {
    ok: ['The constant true.', true],
    replayed: ['Number of deliveries that are sent again.', 25],
    isComplete: ['No delivery of the range remains. Otherwise repeat the request.', true],
  }),
  describeObject('TestDeliveries', TestDeliveries, 'The test webhooks that are sent.', {
    ok: ['The constant true.', true],
    deliveries: ['One delivery for each URL.'],
  }),
  describeObject(
    'ForwardRequest',
    ForwardRequest,
    'A URL that receives the notifications of the stores as they came.',
    {
      url: ['The URL. Without local or private addresses.', 'https://other.example.com/apple'],
      platforms: ['The stores, with neutral or brand tokens. All stores by default.', ['store_a']],
      includesAuthorization: ['The `Authorization` header of the store is sent. The default is false.', false],
    },
  ),
  describeObject('Forward', ForwardRecord, 'A URL that receives the notifications of the stores as they came.', {
    url: ['The URL.', 'https://other.example.com/apple'],
    platforms: ['The stores. All stores if absent.', ['store_a']],
    includesAuthorization: ['The `Authorization` header of the store is sent.', false],
  }),
  describeObject('PurchasesUpdatedWebhook', PurchasesUpdatedWebhook, 'A change of a purchase of a customer.', {
    type: ['The constant `purchases.updated`.', 'purchases.updated'],
    password: webhookPassword,
    notification: ['What caused the webhook.'],
    applicationUsername: ['The customer whose purchases follow.', 'alice'],
    purchases: ["All of the customer's purchases by product id with platform prefix, without unpaid ones."],
    entitlements: [
      'All entitlements that the customer has or ever had, by name. Absent for an app without entitlements.',
    ],
    entitlementsChanged: [
      'The entitlements of the purchase or grant that caused the webhook. Absent for an app without entitlements.',
      ['premium'],
    ],
  }),
  describeObject('TestWebhook', TestWebhook, 'A webhook that checks the connection to your server.', {
    type: ['The constant `test`.', 'test'],
    password: webhookPassword,
  }),
  describeObject('WebhookRepetition', WebhookRepetition, 'The request whose webhook is sent again.', {
    reqId: [
      'Request id of an event. An event id or a notification id is accepted, too.',
      '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10',
    ],
  }),
  describeObject('Success', Success, 'The request succeeded.', { ok: ['The constant true.', true] }),
];

const deliveryParams = { id: ['Id of the delivery.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e'] } as const;

const operations = [
  describeOperation(listDeliveries, {
    description:
      'Lists the webhook deliveries of the app, newest first. They are kept for 30 days after the last attempt.',
    query: {
      state: ['Selects deliveries by state. `pending` selects those that wait for a retry.', 'dead'],
      applicationUsername: ['Selects the attempted deliveries of a customer.', 'alice'],
      url: ['Selects the deliveries with this `url`.', 'https://api.example.org/purchases'],
      startdate: ['Selects deliveries at or after this date.', '2026-02-15T00:00:00Z'],
      enddate: ['Selects deliveries before this date.', '2026-02-16T00:00:00Z'],
      limit: ['Maximum number of deliveries.', 50],
      cursor: ['The `nextCursor` of the previous page. Absent for the first page.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
    },
  }),
  describeOperation(getWebhookStats, {
    description:
      'Returns the deliveries, failures and delivery times of each webhook URL for the newest 1,000 deliveries of the period.',
    query: {
      startdate: ['Selects deliveries at or after this date. Default: seven days ago.', '2026-02-08T00:00:00Z'],
      enddate: ['Selects deliveries before this date.', '2026-02-16T00:00:00Z'],
    },
  }),
  describeOperation(getDelivery, {
    description: 'Returns a webhook delivery with its attempts, newest first.',
    params: deliveryParams,
    errors: { 404: ['The delivery is not found.'] },
  }),
  describeOperation(replayDelivery, {
    description: 'Sends a webhook delivery again. It has the original number of attempts and the current purchases.',
    params: deliveryParams,
    errors: {
      404: ['The delivery is not found.'],
      409: ['The delivery is being sent.', 'Deliveries for other URLs have replaced the delivery.'],
    },
  }),
  describeOperation(replayDeliveries, {
    description:
      'Sends the pending, dead or delivered webhook deliveries of a date range again, at most 1,000 in a request. They have the original number of attempts, and the first one is made now.',
  }),
  describeOperation(getForwards, { description: 'Returns the forwards of the app.' }),
  describeOperation(setForwards, {
    description:
      'Replaces the forwards of the app, at most five. Each verified notification of a store is posted to them with its body and content type, and the headers of webhooks with their signature. It is retried and replayed like a webhook, and the notifications of a purchase are sent in order. An empty list switches forwards off.',
  }),
  describeOperation(testWebhook, { description: 'Sends a test webhook to all URLs of the app.' }),
  describeOperation(repeatWebhook, {
    description: 'Sends the webhook of a past request again, with the reason `REPEATED` and the current purchases.',
    errors: { 404: ['No request with the id has sent a webhook.'] },
  }),
];

/** Headers of a webhook, which Standard Webhooks specifies. */
export const webhookHeaders = {
  'webhook-id': [
    'Id of the delivery. It is the same for all attempts: ignore an id that you have handled.',
    '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e',
  ],
  'webhook-timestamp': ['Time of the attempt in epoch seconds. Reject an old one.', 1771147806],
  'webhook-signature': [
    'Signatures, separated by spaces. Each is `v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` with the signing secret of the app. See https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
} as const;

/** Delays before each retry, as in lib/webhooks/retry-schedule.ts. */
export const retryDelays = [
  '5 seconds',
  '5 minutes',
  '30 minutes',
  '2 hours',
  '5 hours',
  '10 hours',
  '14 hours',
  '20 hours',
  '24 hours',
];

/** What a response to a webhook means. A function, because the build keeps a text that is computed at the start. */
export const summarizeWebhooks = (): string =>
  `Your server must respond with a 2xx status. Any other response, a redirect or a timeout is a failure, and the service tries again after ${retryDelays.join(', ')}; \`Retry-After\` can postpone an attempt by up to a day. After the last attempt, the delivery is dead; \`POST /v3/webhooks/deliveries/{id}/replay\` sends it again. A response of 410 disables the URL. The order of webhooks is not guaranteed: take the purchases of the body as the current state.`;

export const webhookApi: ApiPart = { descriptions, operations };
