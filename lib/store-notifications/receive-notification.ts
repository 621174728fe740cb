import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { authenticate, extractQueryCredentials } from '../http/authenticate.ts';
import { matchPath } from '../http/match-path.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError, logWarning } from '../shared/log.ts';
import { parse } from '../shared/parse.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { type RawNotification, StoreNotification } from '../stores/store.ts';
import { type NotificationEndpoint, notificationEndpoints } from './notification-endpoints.ts';

/** A call of a store, once it is known whose purchases it is about. */
interface NotificationCall {
  readonly hook: NotificationEndpoint;
  readonly app: App;
  readonly raw: RawNotification;
  readonly recorder: EventRecorder;
}

/**
 * Takes a store's notification: verifies it, puts it on the queue and answers. What the store did not send is refused;
 * what it sent and nobody will ever understand is taken, with an event that says so; on trouble of our own the answer asks
 * the store to send it again.
 */
export async function receiveNotification(event: APIGatewayProxyEvent, deps: Deps): Promise<APIGatewayProxyResult> {
  try {
    return await enqueueNotifications(await identifyCall(event, deps), deps);
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    const { code, status, message } = failure;
    const log = failure.retryable ? logError : logWarning;
    log({ endpoint: 'receive-notification', path: event.path }, failure);
    const publicMessage = code === 'Forbidden' ? rejectedMessage : message;
    return toHttpResult(status, JSON.stringify({ ok: false, status, code, message: publicMessage }));
  }
}

/** All that is refused is answered alike, so that nobody learns which names or stores there are; the log says why. */
const rejectedMessage = 'This notification is not for us.';

async function identifyCall(event: APIGatewayProxyEvent, { appCache, now }: Deps): Promise<NotificationCall> {
  const endpointMatch = findEndpoint(event.path);
  const app =
    endpointMatch.appName === undefined
      ? await authenticate(extractQueryCredentials(event), 'public', { findApp: appCache.find, now: now() })
      : await appCache.find(endpointMatch.appName);
  if (!app || app.deletedAt !== undefined) throw new ServiceError('Forbidden', 'There is no such application.');
  const recorder = createEventRecorder({ type: toEventType(endpointMatch.hook), date: now(), eventId: randomUUID() });
  return { hook: endpointMatch.hook, app, raw: toRawNotification(event), recorder };
}

/** The type of the events that tell of a hook's calls. */
const toEventType = ({ platform }: NotificationEndpoint): string => `webhook.${platform}.called`;

function findEndpoint(path: string): { hook: NotificationEndpoint; appName: string | undefined } {
  for (const endpoint of notificationEndpoints) {
    const match = matchPath(endpoint.paths, path);
    if (match) return { hook: endpoint, appName: match.params.appName };
  }
  throw new ServiceError('ResourceNotFound', 'The path is not found.');
}

async function enqueueNotifications(
  { hook: endpoint, app, raw, recorder }: NotificationCall,
  deps: Deps,
): Promise<APIGatewayProxyResult> {
  const store = await deps.loadStore(endpoint.platform);
  if (!store.receive) throw new ServiceError('ResourceNotFound', 'This store sends no notifications.');
  const receivedAt = deps.now();
  try {
    const context = await createStoreContext(app.name, endpoint.platform, { recorder, deps });
    if (context.settings === undefined)
      throw new ServiceError('Forbidden', `The app sells nothing on ${endpoint.platform}.`);
    const received = await store.receive(raw, context);
    const messages = received.notifications.map((message) => parse(StoreNotification, message));
    const { eventId } = recorder;
    await deps.notificationQueue.send(
      messages.map((notification, index) => ({
        appName: app.name,
        platform: endpoint.platform,
        eventId: index === 0 ? eventId : randomUUID(),
        receivedAt,
        attempt: 0,
        notification,
      })),
      { group: app.name },
    );
    return toHttpResult(200, received.responseText ?? '');
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    if (failure.code !== 'InvalidPayload') throw failure;
    await recordWorkerEvent(app.name, { recorder, failure, request: { route: endpoint.paths[0] ?? '' } }, deps);
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
  const lowered = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value ?? ''] as const);
  const query = Object.entries(queryStringParameters ?? {}).map(([name, value]) => [name, value ?? ''] as const);
  return {
    method: httpMethod === 'GET' ? 'GET' : 'POST',
    body: isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString('utf8') : (body ?? ''),
    headers: Object.fromEntries(lowered),
    query: Object.fromEntries(query),
  };
}

const toHttpResult = (statusCode: number, body: string): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': body.startsWith('{') ? 'application/json' : 'text/plain', 'Cache-Control': 'no-store' },
  body,
});
