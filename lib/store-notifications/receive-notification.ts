import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { App } from '../apps/app.ts';
import { findCachedApp } from '../apps/app-table.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { enqueueStoreMessage } from '../forwards/enqueue-store-message.ts';
import { ServiceError } from '../foundation/errors.ts';
import { createEventId, createRequestEventId } from '../foundation/event-id.ts';
import { logError, logWarning } from '../foundation/log.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { authenticate, extractQueryCredentials, requireLevel } from '../http/authenticate.ts';
import { matchPath } from '../http/request.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import { type RawNotification, StoreNotification } from '../stores/store.ts';
import { type NotificationEndpoint, notificationEndpoints } from './notification-endpoints.ts';

/** A store notification whose app has been resolved. */
interface NotificationCall {
  readonly endpoint: NotificationEndpoint;
  readonly app: App;
  readonly raw: RawNotification;
  readonly receivedAt: EpochMillis;
  readonly recorder: EventRecorder;
}

/**
 * Verifies a store notification and enqueues it. Rejects what the store did not send. Accepts an authentic notification
 * with an invalid payload and records it as a failed event, because the store would repeat it. Responds with 5xx to an
 * internal error, so the store sends the notification again.
 */
export async function receiveNotification(
  service: Service,
  lambdaEvent: APIGatewayProxyEvent,
): Promise<APIGatewayProxyResult> {
  // Once: lists of events sort by the date in the id, and show this one.
  const receivedAt = service.now();
  const eventId = createRequestEventId(receivedAt, lambdaEvent.requestContext.requestId);
  let app: string | undefined;
  try {
    const call = await identifyCall(service, lambdaEvent, { eventId, receivedAt });
    app = call.app.name;
    return await enqueueNotifications(service, call);
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    const { code, status, message, retryable } = failure;
    const log = retryable ? logError : logWarning;
    log({ endpoint: 'receive-notification', app, path: lambdaEvent.path, eventId }, failure);
    const publicMessage = code === 'Forbidden' ? rejectedMessage : message;
    return toHttpResult(status, JSON.stringify({ ok: false, status, code, message: publicMessage }));
  }
}

/**
 * The same message for all rejections, so that a response does not reveal app names or stores. The log has the reason.
 */
const rejectedMessage = 'The notification is rejected.';

async function identifyCall(
  service: Service,
  lambdaEvent: APIGatewayProxyEvent,
  { eventId, receivedAt }: { readonly eventId: string; readonly receivedAt: EpochMillis },
): Promise<NotificationCall> {
  const { endpoint, appName } = matchEndpoint(lambdaEvent.path);
  const app =
    appName === undefined ? await authenticateStore(service, lambdaEvent) : await findCachedApp(service, appName);
  if (!app || app.deletedAt !== undefined) throw new ServiceError('Forbidden', 'The app is not found.');
  const type = `webhook.${endpoint.platform}.called`;
  const recorder = createEventRecorder({ type, date: receivedAt, eventId });
  return { endpoint, app, raw: toRawNotification(lambdaEvent), receivedAt, recorder };
}

/** Verifies the key in the URL that the operator has configured in the store. */
async function authenticateStore(service: Service, lambdaEvent: APIGatewayProxyEvent): Promise<App> {
  const { app, key } = await authenticate(service, extractQueryCredentials(lambdaEvent));
  requireLevel(key, { keyLevel: 'public', method: 'POST', permissions: [] });
  return app;
}

function matchEndpoint(path: string): { endpoint: NotificationEndpoint; appName: string | undefined } {
  for (const endpoint of notificationEndpoints) {
    const match = matchPath(endpoint.paths, path);
    if (match) return { endpoint, appName: match.params.appName };
  }
  throw new ServiceError('ResourceNotFound', 'The path is not found.');
}

async function enqueueNotifications(
  service: Service,
  { endpoint, app, raw, receivedAt, recorder }: NotificationCall,
): Promise<APIGatewayProxyResult> {
  const { platform } = endpoint;
  const store = await loadStore(platform);
  if (!store.receive) throw new ServiceError('ResourceNotFound', `${platform} does not support notifications.`);
  try {
    const context = await createStoreContext(service, app.name, { platform, recorder });
    if (context.settings === undefined) throw new ServiceError('Forbidden', `The settings of ${platform} are missing.`);
    const received = await store.receive(raw, context);
    const notifications = received.notifications.map((notification) => parse(StoreNotification, notification));
    await service.notificationQueue.send(
      notifications.map((notification, index) => ({
        appName: app.name,
        platform,
        eventId: index === 0 ? recorder.eventId : createEventId(receivedAt),
        receivedAt,
        attempt: 0,
        notification,
      })),
      { group: app.name },
    );
    await enqueueStoreMessage(service, {
      appName: app.name,
      platform,
      raw,
      receivedAt,
      eventId: recorder.eventId,
      notifications,
    });
    return toHttpResult(200, received.responseText ?? '');
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    if (failure.code !== 'InvalidPayload') throw failure;
    await recordWorkerEvent(service, app.name, { recorder, failure, request: { route: endpoint.paths[0] ?? '' } });
    return toHttpResult(200, '');
  }
}

function toRawNotification({
  httpMethod,
  body,
  isBase64Encoded,
  headers,
  queryStringParameters,
}: APIGatewayProxyEvent): RawNotification {
  const lowerCaseHeaders = Object.entries(headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value ?? ''] as const,
  );
  const query = Object.entries(queryStringParameters ?? {}).map(([name, value]) => [name, value ?? ''] as const);
  return {
    method: httpMethod === 'GET' ? 'GET' : 'POST',
    body: isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString('utf8') : (body ?? ''),
    headers: Object.fromEntries(lowerCaseHeaders),
    query: Object.fromEntries(query),
  };
}

const toHttpResult = (statusCode: number, body: string): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': body.startsWith('{') ? 'application/json' : 'text/plain', 'Cache-Control': 'no-store' },
  body,
});
