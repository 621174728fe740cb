import * as v from 'valibot';
import { dayMs } from '../calendar.ts';
import type { StoreHttpRequest } from '../http-messages.ts';
import type { DeliveryAttempt, NotificationDelivery } from '../notification-delivery.ts';
import { apiError } from './api-error.ts';
import type { Environment } from './records.ts';
import type { ResponseContext } from './response-context.ts';

const pageSize = 20;
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

/** A notification with all that was posted of it: its copies count as attempts. */
interface SentNotification {
  readonly delivery: NotificationDelivery;
  readonly attempts: readonly DeliveryAttempt[];
}

/** `POST /inApps/v1/notifications/history`: what the store meant to post, the oldest first. */
export function queryNotificationHistory(
  context: ResponseContext,
  call: StoreHttpRequest,
  environment: Environment,
): object {
  const wanted = parseQuery(call, context.now());
  const found = listSentNotifications(context, environment).filter((sent) => matchesQuery(context, sent, wanted));
  const start = findStart(call.query.get('paginationToken'), found.length);
  const end = start + pageSize;
  const hasMore = end < found.length;
  return {
    ...(hasMore && { paginationToken: Buffer.from(String(end)).toString('base64url') }),
    hasMore,
    notificationHistory: found.slice(start, end).map(toHistoryItem),
  };
}

/** A notification as the store tells of it later, with its latest six attempts. */
export const toHistoryItem = ({ delivery, attempts }: SentNotification): object => ({
  ...v.parse(Body, JSON.parse(delivery.body)),
  sendAttempts: attempts.slice(-6).map((attempt) => ({
    attemptDate: attempt.at,
    sendAttemptResult: toSendAttemptResult(attempt),
  })),
});

const Body = v.object({ signedPayload: v.string() });

/** The notifications of that environment, the oldest first. */
export function listSentNotifications(
  { deliveries: outgoing }: ResponseContext,
  environment: Environment,
): readonly SentNotification[] {
  const byBody = new Map<string, SentNotification>();
  for (const delivery of outgoing.list()) {
    if (delivery.native.environment !== environment) continue;
    const attempts = [...(byBody.get(delivery.body)?.attempts ?? []), ...delivery.attempts];
    byBody.set(delivery.body, { delivery, attempts: attempts.sort((one, other) => one.at - other.at) });
  }
  return [...byBody.values()].sort((one, other) => one.delivery.at - other.delivery.at);
}

const isSuccess = ({ status = 0 }: DeliveryAttempt): boolean => status >= 200 && status <= 206;

function toSendAttemptResult(attempt: DeliveryAttempt): string {
  if (isSuccess(attempt)) return 'SUCCESS';
  if (attempt.status !== undefined) return 'UNSUCCESSFUL_HTTP_RESPONSE_CODE';
  return attempt.failure === 'timeout' ? 'TIMED_OUT' : 'NO_RESPONSE';
}

function parseQuery({ body }: StoreHttpRequest, now: number): HistoryQuery {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), HistoryQuery), body.toString('utf8'));
  if (!result.success) throw issueError(v.getDotPath(result.issues[0]) ?? '');
  const { startDate, endDate, notificationType, transactionId } = result.output;
  if (startDate > endDate) throw apiError(4000013, 'Invalid request. The end date precedes the start date.');
  if (startDate < now - retentionMs) throw apiError(4000012, 'Invalid request. The start date is too far in the past.');
  if (notificationType && transactionId) {
    throw apiError(4000019, 'Invalid request. Supply either a transaction id or a notification type, but not both.');
  }
  return result.output;
}

function issueError(member: string): Error {
  if (member === 'startDate') return apiError(4000015, 'Invalid request. The startDate is not a time in milliseconds.');
  if (member === 'endDate') return apiError(4000016, 'Invalid request. The endDate is not a time in milliseconds.');
  return apiError(4000000, 'Bad request.');
}

function matchesQuery(
  { state }: ResponseContext,
  { delivery, attempts }: SentNotification,
  wanted: HistoryQuery,
): boolean {
  const { at, native, purchaseId } = delivery;
  return (
    wanted.startDate <= at &&
    at < wanted.endDate &&
    (!wanted.onlyFailures || !attempts.some(isSuccess)) &&
    (!wanted.notificationType || wanted.notificationType === native.notificationType) &&
    (!wanted.notificationSubtype || wanted.notificationSubtype === native.subtype) &&
    (!wanted.transactionId || state.purchaseIdsByTransaction.get(wanted.transactionId) === purchaseId)
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
