import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { DateTime, OptionalDateTime, OptionalNumber, OptionalText } from '../api/schemas.ts';
import { countedUntilText } from '../statistics/contract.ts';

export const Backlog = v.strictObject({
  count: v.number(),
  /** Date of the oldest one: its due time, or the creation of a delivery. */
  oldest: OptionalDateTime,
  /** At most 1,000 are read. */
  isExact: v.boolean(),
});

/** The attempted deliveries of a URL among the newest 100 of the app. */
const RecentDeliveries = v.strictObject({
  numDeliveries: v.number(),
  /** Those that wait for a retry or are dead. */
  numFailed: v.number(),
  failureReason: OptionalText,
});

/** A series of failed attempts, and the failure of the first one. */
const UrlFailure = v.strictObject({ since: DateTime, message: v.string() });

/** Health of a webhook URL. */
export const WebhookUrlHealth = v.strictObject({
  /** Without query, and with long path segments shortened. */
  url: v.string(),
  /**
   * `disabled`: the server responded with 410. `backoff`: it did not respond, and webhooks are postponed.
   * `failing`: every attempt has failed for at least a minute.
   */
  state: v.picklist(['ok', 'failing', 'backoff', 'disabled']),
  recent: RecentDeliveries,
  /** Present while every attempt fails. */
  failing: v.exactOptional(UrlFailure),
  disabledAt: OptionalDateTime,
  backoffUntil: OptionalDateTime,
  consecutiveFailures: OptionalNumber,
});

const DueWork = v.strictObject({
  appName: v.string(),
  /** The statistics contain everything that was stored until then. */
  countedUntil: DateTime,
  /** Purchases whose refresh is due and has not run. Some seconds are normal: the worker runs every minute. */
  overdueRefreshes: Backlog,
  /** Webhook deliveries among the newest 100 without an attempt. Some seconds are normal. */
  waitingWebhooks: Backlog,
  /** Webhook deliveries that wait for a retry. */
  pendingWebhooks: Backlog,
  /** Webhook deliveries without further attempts. */
  deadWebhooks: Backlog,
  /** Changes that a worker could not process, of all apps. An earlier release does not report them. */
  streamFailures: v.exactOptional(Backlog),
  webhookUrls: v.array(WebhookUrlHealth),
});

// Spec: not shown. The work that is late or failed, for operators.
export const getDue = defineContract({
  id: 'get-due',
  area: 'due',
  summary: 'Get overdue refreshes, and webhooks that wait or are dead',
  method: 'GET',
  path: '/v3/due',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'due.read',
  response: DueWork,
  isLongRunning: true,
  permissions: ['indexes', 'due', 'streamFailures'],
});

const appName = ['Name of the app.', 'demo'] as const;

const descriptions = [
  describeObject('Backlog', Backlog, 'Work that is late or failed.', {
    count: ['Number of items; at most 1,000 are counted.', 2],
    oldest: ['Date of the oldest item. Absent if there is none.', '2026-01-15T09:30:00.000Z'],
    isExact: ['All items were counted.', true],
  }),
  describeObject('RecentDeliveries', RecentDeliveries, 'The attempted deliveries of a URL among the newest 100.', {
    numDeliveries: ['Number of attempted deliveries.', 40],
    numFailed: ['Those that wait for a retry or are dead.', 2],
    failureReason: ['Why the newest of them failed. Absent if there is none.', 'The server responded with 500.'],
  }),
  describeObject('UrlFailure', UrlFailure, 'A series of failed attempts.', {
    since: ['Start of the series.', '2026-01-15T09:30:00.000Z'],
    message: ['Why the first attempt failed.', 'The server responded with 500.'],
  }),
  describeObject('WebhookUrlHealth', WebhookUrlHealth, 'Health of a webhook URL.', {
    url: ['The URL, without query and with long path segments shortened.', 'https://api.example.org/purchases'],
    state: [
      '`disabled`: your server responded with 410. `backoff`: it did not respond, and webhooks are postponed. `failing`: every attempt has failed for at least a minute.',
      'ok',
    ],
    recent: ['The attempted deliveries among the newest 100 of the app.'],
    failing: ['The series of failed attempts. Absent if the latest attempt succeeded.'],
    disabledAt: ['Date at which the URL was disabled.', '2026-01-15T09:30:00.000Z'],
    backoffUntil: ['End of the backoff.', '2026-01-15T09:45:00.000Z'],
    consecutiveFailures: ['Number of attempts without response since the last response.', 3],
  }),
  describeObject('DueWork', DueWork, 'The late and the failed work of the app.', {
    appName,
    countedUntil: countedUntilText,
    overdueRefreshes: [
      'Purchases whose refresh is due and has not run. Some seconds are normal: the worker runs every minute.',
    ],
    waitingWebhooks: ['Webhook deliveries among the newest 100 without an attempt. Some seconds are normal.'],
    pendingWebhooks: ['Webhook deliveries that wait for a retry.'],
    deadWebhooks: ['Webhook deliveries without further attempts.'],
    streamFailures: [
      'Changes of any app that a worker could not process: their webhooks, credits or statistics are missing.',
    ],
    webhookUrls: ['Health of each webhook URL.'],
  }),
];

const operations = [
  describeOperation(getDue, {
    description:
      'Returns the overdue refreshes, the webhooks that wait for a retry or are dead, and the health of the webhook URLs.',
  }),
];

export const dueApi: ApiPart = { descriptions, operations };
