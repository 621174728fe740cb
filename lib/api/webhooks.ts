import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { parsePlatform } from '../foundation/vocabulary.ts';
import { defineContract } from './contract.ts';
import { Id, Username } from './identifiers.ts';
import { cursorParam, DateOrDateTime, integerParam, NextCursor } from './paging.ts';
import { DateTime, emptyAsAbsent } from './schemas.ts';
import { storeRequestTypes } from './store-request.ts';

const PlatformToken = v.pipe(
  v.string(),
  v.transform((token) => parsePlatform(token) ?? token),
  Platform,
);

// Spec: not shown. The deliveries of webhooks, for the console and the command line.
const common = { area: 'webhooks', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;
const params = v.object({ id: Id });

const OptionalText = v.exactOptional(v.string());
const OptionalDateTime = v.exactOptional(DateTime);

/** What caused a webhook. */
export const DeliveryNotification = v.strictObject({
  id: v.string(),
  reason: v.string(),
  date: DateTime,
  productId: OptionalText,
  purchaseId: OptionalText,
  transactionId: OptionalText,
});

/** One webhook for one URL. */
export const DeliveryRecord = v.strictObject({
  /** Sent as `webhook-id`, the same for all attempts. */
  deliveryId: v.string(),
  type: v.picklist(['purchases.updated', 'refund.requested', ...storeRequestTypes, 'test', 'forward']),
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
  lastHttpStatus: v.exactOptional(v.number()),
  failureReason: OptionalText,
});
export type DeliveryRecord = v.InferOutput<typeof DeliveryRecord>;

/** The headers and the body of a webhook, without secrets. */
export const SentWebhook = v.strictObject({ headers: v.looseObject({}), body: v.looseObject({}) });

/** One request to the app's server. */
export const DeliveryAttemptRecord = v.strictObject({
  eventId: v.string(),
  date: DateTime,
  durationMs: v.number(),
  ok: v.boolean(),
  /** HTTP status. Absent if there was no response. */
  status: v.exactOptional(v.number()),
  /** Start of the response body. */
  response: OptionalText,
  /** Why there was no response, or why it is a failure. */
  error: OptionalText,
  /** What was sent, without secrets. */
  request: v.exactOptional(SentWebhook),
});
export type DeliveryAttemptRecord = v.InferOutput<typeof DeliveryAttemptRecord>;

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
  response: v.strictObject({ rows: v.array(DeliveryRecord), nextCursor: NextCursor }),
  isLongRunning: true,
  permissions: ['indexes'],
});

export const getDelivery = defineContract({
  ...common,
  id: 'get-delivery',
  summary: 'Get a webhook delivery with its attempts, newest first',
  method: 'GET',
  path: '/v3/webhooks/deliveries/:id',
  eventType: 'webhooks.read',
  params,
  response: v.strictObject({ ...DeliveryRecord.entries, attempts: v.array(DeliveryAttemptRecord) }),
  permissions: [],
});

export const replayDelivery = defineContract({
  ...common,
  id: 'replay-delivery',
  summary: 'Send a webhook delivery again, with its original number of attempts',
  method: 'POST',
  path: '/v3/webhooks/deliveries/:id/replay',
  eventType: 'webhook.replayed',
  params,
  response: v.strictObject({ ok: v.literal(true), delivery: DeliveryRecord }),
  additionalLevels: ['support'],
  permissions: ['write', 'webhooks'],
});

export const replayDeliveries = defineContract({
  ...common,
  id: 'replay-deliveries',
  summary: 'Send the pending, dead or delivered webhook deliveries of a date range again, at most 1,000 in a request',
  method: 'POST',
  path: '/v3/webhooks/replay',
  eventType: 'webhook.replayed',
  body: v.object({
    startdate: DateOrDateTime,
    /** A replay renews the date of a delivery, so the same request replays nothing twice. */
    enddate: DateOrDateTime,
    /** `pending` selects deliveries that wait for a retry. */
    state: v.optional(v.picklist(['pending', 'dead', 'delivered']), 'dead'),
    /** The URL, or the form in which responses contain it. All URLs by default. */
    url: v.exactOptional(v.string()),
  }),
  response: v.strictObject({
    ok: v.literal(true),
    replayed: v.number(),
    /** Whether no delivery of the range remains. Otherwise repeat the request. */
    isComplete: v.boolean(),
  }),
  isLongRunning: true,
  additionalLevels: ['support'],
  permissions: ['write', 'webhooks', 'indexes'],
});

export const testWebhook = defineContract({
  ...common,
  id: 'test-webhook',
  summary: 'Send a test webhook to all URLs of the app',
  method: 'POST',
  path: '/v3/webhooks/test',
  eventType: 'webhook.tested',
  response: v.strictObject({ ok: v.literal(true), deliveries: v.array(DeliveryRecord) }),
  permissions: ['write', 'webhooks'],
});

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
  // Spec: the request id of an event. The id of the event and the id of a notification are accepted, too.
  body: v.object({ reqId: Id }),
  // Spec: not shown.
  response: v.strictObject({ ok: v.literal(true) }),
  additionalLevels: ['support'],
  permissions: ['write', 'webhooks'],
});

/** A URL that receives store notifications as the stores sent them. */
export const ForwardRecord = v.object({
  url: v.string(),
  platforms: v.exactOptional(v.array(Platform)),
  includesAuthorization: v.exactOptional(v.boolean()),
});

/** A forward in a request: brand names of platforms are accepted. */
export const ForwardRequest = v.object({
  url: v.string(),
  platforms: v.exactOptional(v.array(PlatformToken)),
  includesAuthorization: v.exactOptional(v.boolean()),
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
});
