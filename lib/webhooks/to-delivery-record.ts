import type { DetailedEvent } from '../events/event.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { toIso } from '../foundation/time.ts';
import type { DeliveryAttemptRecord, DeliveryRecord } from './contract.ts';
import type { WebhookDelivery } from './delivery.ts';
import { toDisplayUrl } from './display-url.ts';

/** Returns the record of a delivery, without credentials in its URL. */
export function toDeliveryRecord(delivery: WebhookDelivery): DeliveryRecord {
  const { deliveryId, type, state, url, username, notification, createdAt, failedAttempts } = delivery;
  const { lastAttemptAt, nextAttemptAt, lastHttpStatus, failureReason } = delivery;
  return {
    deliveryId,
    type,
    state,
    url: toDisplayUrl(url),
    ...(username !== undefined && { applicationUsername: username }),
    notification: { ...notification, date: toIso(notification.date) },
    createdAt: toIso(createdAt),
    failedAttempts,
    ...(lastAttemptAt !== undefined && { lastAttemptAt: toIso(lastAttemptAt) }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: toIso(nextAttemptAt) }),
    ...omitUndefined({ lastHttpStatus, failureReason }),
  };
}

/** Returns the record of an attempt from its event. */
export function toAttemptRecord({ event, raw }: DetailedEvent): DeliveryAttemptRecord {
  const { eventId, date, outcome } = event;
  const [call] = raw?.externalRequests ?? [];
  const body = findBodyExcerpt(raw?.response);
  const sent: Readonly<Record<string, unknown>> = raw?.request ?? {};
  return {
    eventId,
    date: toIso(date),
    durationMs: call ? call.timing.endedAt - call.timing.startedAt : 0,
    ok: outcome.ok,
    ...(call?.response && { status: call.response.status }),
    ...(body && { response: body }),
    ...(outcome.message !== undefined && { error: outcome.message }),
    ...(isObject(sent.headers) && isObject(sent.body) && { request: { headers: sent.headers, body: sent.body } }),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the start of the app server's response, from the raw view of an attempt. */
function findBodyExcerpt(response: unknown): string | undefined {
  const { body } = (response ?? {}) as { body?: { message?: unknown } };
  return typeof body?.message === 'string' ? body.message : undefined;
}
