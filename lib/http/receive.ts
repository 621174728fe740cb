import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { type Hook, hooks } from '../api/notifications.ts';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { loggable } from '../events/loggable.ts';
import { newRecorder, type Recorder } from '../events/recorder.ts';
import { recordWork } from '../events/work.ts';
import { parse } from '../parse.ts';
import { type RawNotification, StoreMessage } from '../stores/store.ts';
import { askingOf } from './asking.ts';
import { authenticate, queryCredentials } from './authenticate.ts';
import { matchPath } from './path.ts';

/** A call of a store, once it is known whose purchases it is about. */
interface Receiving {
  readonly hook: Hook;
  readonly app: App;
  readonly raw: RawNotification;
  readonly recorder: Recorder;
}

/**
 * Takes a store's notification: verifies it, puts it on the queue and answers. What the store did not send is refused;
 * what it sent and nobody will ever understand is taken, with an event that says so; on trouble of our own the answer asks
 * the store to send it again.
 */
export async function receive(event: APIGatewayProxyEvent, deps: Deps): Promise<APIGatewayProxyResult> {
  try {
    return await take(await opened(event, deps), deps);
  } catch (thrown) {
    const { code, status, message, retryable, cause } = ServiceError.from(thrown);
    console[retryable ? 'error' : 'warn'](JSON.stringify({ path: event.path, code, message, cause: loggable(cause) }));
    const told = code === 'Forbidden' ? notForUs : message;
    return answer(status, JSON.stringify({ ok: false, status, code, message: told }));
  }
}

/** All that is refused is answered alike, so that nobody learns which names or stores there are; the log says why. */
const notForUs = 'This notification is not for us.';

async function opened(event: APIGatewayProxyEvent, { cachedApps, now }: Deps): Promise<Receiving> {
  const found = hookOf(event.path);
  const app =
    found.appName === undefined
      ? await authenticate(queryCredentials(event), 'public', { find: cachedApps.find, now: now() })
      : await cachedApps.find(found.appName);
  if (!app || app.deletedAt !== undefined) throw new ServiceError('Forbidden', 'There is no such application.');
  const recorder = newRecorder({ type: eventType(found.hook), date: now(), eventId: randomUUID() });
  return { hook: found.hook, app, raw: rawOf(event), recorder };
}

/** The type of the events that tell of a hook's calls. */
const eventType = ({ platform }: Hook): string => `webhook.${platform}.called`;

function hookOf(path: string): { hook: Hook; appName: string | undefined } {
  for (const hook of hooks) {
    const match = matchPath(hook.paths, path);
    if (match) return { hook, appName: match.params.appName };
  }
  throw new ServiceError('ResourceNotFound', 'There is no such path.');
}

async function take({ hook, app, raw, recorder }: Receiving, deps: Deps): Promise<APIGatewayProxyResult> {
  const store = await deps.store(hook.platform);
  if (!store.receive) throw new ServiceError('ResourceNotFound', 'This store sends no notifications.');
  const receivedAt = deps.now();
  try {
    const asking = await askingOf(app.name, hook.platform, { event: recorder, deps });
    if (asking.settings === undefined)
      throw new ServiceError('Forbidden', `The app sells nothing on ${hook.platform}.`);
    const received = await store.receive(raw, asking);
    const messages = received.messages.map((message) => parse(StoreMessage, message));
    const { eventId } = recorder;
    await deps.notificationsQueue.send(
      messages.map((message, index) => ({
        app: app.name,
        platform: hook.platform,
        eventId: index === 0 ? eventId : randomUUID(),
        receivedAt,
        attempt: 0,
        message,
      })),
      { group: app.name },
    );
    return answer(200, received.answer ?? '');
  } catch (thrown) {
    const failure = ServiceError.from(thrown);
    if (failure.code !== 'InvalidPayload') throw failure;
    await recordWork(app.name, { recorder, failure, request: { route: hook.paths[0] ?? '' } }, deps);
    return answer(200, '');
  }
}

function rawOf({
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

const answer = (statusCode: number, body: string): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': body.startsWith('{') ? 'application/json' : 'text/plain', 'Cache-Control': 'no-store' },
  body,
});
