import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { DateTime } from './schemas.ts';

export const Backlog = v.strictObject({
  count: v.number(),
  /** Date of the oldest one: its due time, or the creation of a delivery. */
  oldest: v.exactOptional(DateTime),
  /** Whether all were counted. At most 1,000 are read. */
  isExact: v.boolean(),
});

/** The attempted deliveries of a URL among the newest 100 of the app. */
export const RecentDeliveries = v.strictObject({
  numDeliveries: v.number(),
  /** Those that wait for a retry or are dead. */
  numFailed: v.number(),
});

/** A series of failed attempts, and the failure of the last one. */
export const UrlFailure = v.strictObject({ since: DateTime, message: v.string() });

/** Health of a webhook URL. */
export const WebhookUrlHealth = v.strictObject({
  /** Without query, and with long path segments shortened. */
  url: v.string(),
  /**
   * `disabled`: the server responded with 410. `backoff`: it did not respond, and webhooks are postponed.
   * `failing`: the latest attempts failed in succession.
   */
  state: v.picklist(['ok', 'failing', 'backoff', 'disabled']),
  recent: RecentDeliveries,
  /** Present while the latest attempts fail in succession. */
  failing: v.exactOptional(UrlFailure),
  disabledAt: v.exactOptional(DateTime),
  backoffUntil: v.exactOptional(DateTime),
  consecutiveFailures: v.exactOptional(v.number()),
});

// Spec: not shown. The work that is late or failed, for operators.
export const getDue = defineContract({
  id: 'get-due',
  area: 'due',
  summary:
    'Get the overdue refreshes, the webhooks that wait for a retry or are dead, and the health of the webhook URLs',
  method: 'GET',
  path: '/v3/due',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'due.read',
  response: v.strictObject({
    appName: v.string(),
    /** Purchases whose refresh is due and has not run. Some seconds are normal: the worker runs every minute. */
    overdueRefreshes: Backlog,
    /** Webhook deliveries among the newest 100 without an attempt. Some seconds are normal. */
    waitingWebhooks: Backlog,
    /** Webhook deliveries that wait for a retry. */
    pendingWebhooks: Backlog,
    /** Webhook deliveries without further attempts. */
    deadWebhooks: Backlog,
    webhookUrls: v.array(WebhookUrlHealth),
  }),
  isLongRunning: true,
  permissions: ['indexes', 'due'],
});
