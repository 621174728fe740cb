import * as v from 'valibot';
import { dayMs } from '../calendar.ts';
import type { StoreHttpRequest } from '../http-messages.ts';
import type { DeliveryAttempt, NotificationDelivery } from '../notification-delivery.ts';
import { apiError } from './api-error.ts';
import type { Environment } from './records.ts';
import type { ResponseContext } from './response-context.ts';

const maxPageSize = 20;
const retentionMs = 180 * dayMs;
const Millis = v.pipe(v.number(), v.integer(), v.minValue(0));

const HistoryQuery = v.object({
  startDate: Millis,
  endDate: Millis,
  notificationType: v.nullish(v.string()),
  notificationSubtype: v.nullish(v.string()),
  transactionId: v.nullish(v.string()),
  onlyFailures: v.nullish(v.boolean(), false),
});
type HistoryQuery = v.InferOutput<typeof HistoryQuery>;

/** Notification with the attempts of all its copies. */
interface SentNotification {
  readonly delivery: NotificationDelivery;
  readonly attempts: readonly DeliveryAttempt[];
}

/**
 * `POST /inApps/v1/notifications/history`: returns posted, held and failed notifications, the oldest first.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/get-notification-history
 */
export function queryNotificationHistory(
  context: ResponseContext,
  call: StoreHttpRequest,
  environment: Environment,
): object {
  const query = parseQuery(call, context.now());
  const notifications = listSentNotifications(context, environment).filter((sent) =>
    matchesQuery(context, sent, query),
  );
  const start = findStart(call.query.get('paginationToken'), notifications.length);
  const end = start + (context.settings().listLength ?? maxPageSize);
  const hasMore = end < notifications.length;
  return {
    ...(hasMore && { paginationToken: Buffer.from(String(end)).toString('base64url') }),
    hasMore,
    notificationHistory: notifications.slice(start, end).map(toHistoryItem),
  };
}

/** Converts a notification to a history item with its latest six attempts. */
export const toHistoryItem = ({ delivery, attempts }: SentNotification): object => ({
  ...v.parse(NotificationBody, JSON.parse(delivery.body)),
  sendAttempts: attempts.slice(-6).map((attempt) => ({
    attemptDate: attempt.at,
    sendAttemptResult: toSendAttemptResult(attempt),
  })),
});

const NotificationBody = v.object({ signedPayload: v.string() });

/** Lists the notifications of the environment, the oldest first. */
export function listSentNotifications(
  { deliveries: outgoing }: ResponseContext,
  environment: Environment,
): readonly SentNotification[] {
  const byBody = new Map<string, SentNotification>();
  for (const delivery of outgoing.list()) {
    if (delivery.native.environment !== environment) continue;
    const attempts = [...(byBody.get(delivery.body)?.attempts ?? []), ...delivery.attempts];
    byBody.set(delivery.body, { delivery, attempts: attempts.sort((a, b) => a.at - b.at) });
  }
  return [...byBody.values()].sort((a, b) => a.delivery.at - b.delivery.at);
}

const isSuccess = ({ status = 0 }: DeliveryAttempt): boolean => status >= 200 && status <= 206;

/** A notification whose first attempt lacks a result has not failed. A held one is treated as lost. */
const hasFailed = ({ delivery: { state }, attempts }: SentNotification): boolean =>
  !attempts.some(isSuccess) && (attempts.length > 0 || state === 'held');

function toSendAttemptResult(attempt: DeliveryAttempt): string {
  if (isSuccess(attempt)) return 'SUCCESS';
  if (attempt.status !== undefined) return 'UNSUCCESSFUL_HTTP_RESPONSE_CODE';
  return attempt.failure === 'timeout' ? 'TIMED_OUT' : 'NO_RESPONSE';
}

function parseQuery({ body }: StoreHttpRequest, now: number): HistoryQuery {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), HistoryQuery), body.toString('utf8'));
  if (!result.success) throw queryError(v.getDotPath(result.issues[0]) ?? '');
  const { startDate, endDate, notificationType, transactionId } = result.output;
  if (startDate > endDate) throw apiError(4000013, 'Invalid request. The end date precedes the start date.');
  if (startDate < now - retentionMs) throw apiError(4000012, 'Invalid request. The start date is too far in the past.');
  if (notificationType && transactionId) {
    throw apiError(4000019, 'Invalid request. Supply either a transaction id or a notification type, but not both.');
  }
  return result.output;
}

function queryError(member: string): Error {
  if (member === 'startDate') return apiError(4000015, 'Invalid request. The startDate is not a time in milliseconds.');
  if (member === 'endDate') return apiError(4000016, 'Invalid request. The endDate is not a time in milliseconds.');
  return apiError(4000000, 'Bad request.');
}

function matchesQuery(
  { state }: ResponseContext,
  { delivery, attempts }: SentNotification,
  query: HistoryQuery,
): boolean {
  const { at, native, purchaseId } = delivery;
  return (
    query.startDate <= at &&
    at < query.endDate &&
    (!query.onlyFailures || hasFailed({ delivery, attempts })) &&
    (!query.notificationType || query.notificationType === native.notificationType) &&
    (!query.notificationSubtype || query.notificationSubtype === native.subtype) &&
    (!query.transactionId || state.purchaseIdsByTransaction.get(query.transactionId) === purchaseId)
  );
}

function findStart(paginationToken: string | null, length: number): number {
  if (paginationToken === null) return 0;
  const start = Buffer.from(paginationToken, 'base64url').toString();
  if (!/^\d{1,9}$/.test(start) || Number(start) >= length) {
    throw apiError(4000014, 'Invalid request. The pagination token is invalid.');
  }
  return Number(start);
}
