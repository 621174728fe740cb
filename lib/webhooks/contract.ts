import * as v from 'valibot';
import { describeObject, describeOperation } from '../api/describe.ts';
import { webhookPassword } from '../api/parameters.ts';
import { PurchaseCollection } from '../api/purchase-records.ts';
import {
  DeliveryAttemptRecord,
  DeliveryNotification,
  DeliveryRecord,
  ForwardRecord,
  ForwardRequest,
  getDelivery,
  getForwards,
  listDeliveries,
  replayDeliveries,
  replayDelivery,
  SentWebhook,
  setForwards,
  testWebhook,
} from '../api/webhooks.ts';
import { EntitlementRecords } from '../entitlements/contract.ts';

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
  failureReason: ['Why the last attempt failed, or why there is no further one.', 'The server responded with 500.'],
} as const;

/** A webhook to the app's server about a purchase. `buildWebhookBody` creates the fields. */
export const PurchasesUpdatedWebhook = v.strictObject({
  type: v.literal('purchases.updated'),
  password: v.exactOptional(v.string()),
  notification: DeliveryNotification,
  applicationUsername: v.string(),
  purchases: PurchaseCollection,
  entitlements: v.exactOptional(EntitlementRecords),
  entitlementsChanged: v.exactOptional(v.array(v.string())),
});

/** A webhook that checks the connection to the app's server. */
export const TestWebhook = v.strictObject({ type: v.literal('test'), password: v.exactOptional(v.string()) });

export const webhookDescriptions = [
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
    ok: ['Whether your server accepted the webhook.', true],
    status: ['HTTP status. Absent if there was no response.', 200],
    response: ['Start of the response body.', 'ok'],
    error: ['Why there was no response, or why it is a failure.', 'The server responded with 500.'],
    request: ['What was sent.'],
  }),
  describeObject('DeliveryList', listDeliveries.response, 'A page of deliveries, newest first.', {
    rows: ['The deliveries of the page.'],
    nextCursor: ['Cursor of the next page. Absent at the end of the list.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
  }),
  describeObject('DeliveryDetails', getDelivery.response, 'A delivery with its attempts.', {
    ...deliveryFields,
    attempts: ['The attempts, newest first.'],
  }),
  describeObject('ReplayedDelivery', replayDelivery.response, 'The delivery that is sent again.', {
    ok: ['The constant true.', true],
    delivery: ['The delivery.'],
  }),
  describeObject('ReplayRequest', replayDeliveries.body, 'Selects the deliveries to send again.', {
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
  describeObject('ReplayResult', replayDeliveries.response, 'Result of a replay.', {
    ok: ['The constant true.', true],
    replayed: ['Number of deliveries that are sent again.', 25],
    isComplete: ['Whether no delivery of the range remains. Otherwise repeat the request.', true],
  }),
  describeObject('TestDeliveries', testWebhook.response, 'The test webhooks that are sent.', {
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
      includesAuthorization: ['Whether the `Authorization` header of the store is sent. The default is false.', false],
    },
  ),
  describeObject('Forward', ForwardRecord, 'A URL that receives the notifications of the stores as they came.', {
    url: ['The URL.', 'https://other.example.com/apple'],
    platforms: ['The stores. All stores if absent.', ['store_a']],
    includesAuthorization: ['Whether the `Authorization` header of the store is sent.', false],
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
];

const params = { id: ['Id of the delivery.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e'] } as const;

export const webhookOperations = [
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
  describeOperation(getDelivery, {
    description: 'Returns a webhook delivery with its attempts, newest first.',
    params,
  }),
  describeOperation(replayDelivery, {
    description: 'Sends a webhook delivery again. It has the original number of attempts and the current purchases.',
    params,
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

export const webhookSummary = `Your server must respond with a 2xx status. Any other response, a redirect or a timeout is a failure, and the service tries again after ${retryDelays.join(', ')}; \`Retry-After\` can postpone an attempt by up to a day. After the last attempt, the delivery is dead; \`POST /v3/webhooks/deliveries/{id}/replay\` sends it again. A response of 410 disables the URL. The order of webhooks is not guaranteed: take the purchases of the body as the current state.`;
