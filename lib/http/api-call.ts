import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Contract } from '../api/contract.ts';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { ServiceError } from '../shared/errors.ts';
import { toLoggable } from '../shared/log.ts';
import { sanitize } from '../shared/redaction/sanitize.ts';
import { extractCredentials } from './authenticate.ts';
import { type ErrorResponse, errorResponses } from './error-response.ts';
import { matchPath } from './match-path.ts';
import { maxResponseBytes } from './response-size.ts';

/** One request while it is handled. */
export interface ApiCall {
  readonly contract: Contract;
  readonly event: APIGatewayProxyEvent;
  readonly recorder: EventRecorder;
  /** Known once the credentials have been checked; only then is the call recorded. */
  app?: App;
}

const calls = new WeakMap<APIGatewayProxyEvent, ApiCall>();

/** The call of an event, opened at the first asking. */
export function getApiCall(contract: Contract, event: APIGatewayProxyEvent): ApiCall {
  const existing = calls.get(event);
  if (existing) return existing;
  const reqId = getHeader(event, 'x-request-id')?.slice(0, 200);
  const recorder = createEventRecorder({ type: contract.eventType, date: Date.now(), ...(reqId && { reqId }) });
  const call: ApiCall = { contract, event, recorder };
  calls.set(event, call);
  return call;
}

/** The template that the path was called by: the documented path or an alias. */
export function matchRoute({ contract, event }: ApiCall): string {
  try {
    return matchPath([contract.path, ...contract.aliases], event.path)?.template ?? contract.path;
  } catch {
    return contract.path;
  }
}

/** The answer to a call that succeeded. Throws `InvalidPayload` for one that is too large to be sent. */
export async function respondWithBody(call: ApiCall, body: object, deps: Deps): Promise<APIGatewayProxyResult> {
  if (Buffer.byteLength(JSON.stringify(body)) > maxResponseBytes) {
    throw new ServiceError('InvalidPayload', 'The answer is too large: ask for fewer rows at a time.', { status: 413 });
  }
  return await toHttpResult(call, { status: 200, body: { ...body } }, { deps });
}

/** The answer to a call that failed, in the dialect of its contract. */
export async function respondWithError(call: ApiCall, thrown: unknown, deps: Deps): Promise<APIGatewayProxyResult> {
  const error = toServiceError(thrown);
  if (error.retryable) logError(call, error);
  return await toHttpResult(call, errorResponses[call.contract.errorFormat](error, matchRoute(call)), { deps, error });
}

/** Errors of the body parser carry a status and are the caller's; all others are as they are. */
function toServiceError(error: unknown): ServiceError {
  const statusCode = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : undefined;
  if (statusCode !== undefined && statusCode < 500)
    return new ServiceError('InvalidPayload', 'The body is not valid JSON.');
  return ServiceError.fromUnknown(error);
}

async function toHttpResult(
  call: ApiCall,
  { status, body }: ErrorResponse,
  { deps, error }: { deps: Deps; error?: ServiceError },
): Promise<APIGatewayProxyResult> {
  await recordCallEvent(call, { status, body }, { deps, ...(error && { error }) });
  const isBrowserCall = call.contract.keyLevel !== 'secret';
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(isBrowserCall && { 'Access-Control-Allow-Origin': '*' }),
    },
    body: JSON.stringify(body),
  };
}

/** An answer is not withheld because its record could not be written; the log then says so. */
async function recordCallEvent(
  call: ApiCall,
  response: ErrorResponse,
  { deps, error }: { deps: Deps; error?: ServiceError },
): Promise<void> {
  const { app, event, recorder, contract } = call;
  if (!app) return;
  const { event: record, raw } = recorder.finish({
    request: {
      method: event.httpMethod,
      route: matchRoute(call),
      query: omitCredentials(event.queryStringParameters ?? {}),
      params: getPathParams(call),
      ...(typeof event.body !== 'string' && { body: event.body }),
    },
    outcome: { status: error?.status ?? response.status, ok: !error, ...(error && { message: error.message }) },
    response: response.body,
    credentials: listCredentialStrings(event),
    ...(error && { error: { code: error.code, status: error.status, message: error.message } }),
  });
  const isReadOnly = !contract.permissions.some((need) => need === 'write' || need === 'stores');
  try {
    await deps.events.save(app.name, record, isReadOnly ? undefined : raw);
  } catch (cause) {
    logError(call, ServiceError.fromUnknown(cause));
  }
}

const omitCredentials = ({ apiKey: _key, appName: _name, ...query }: Record<string, string | undefined>) => query;

const getPathParams = ({ contract, event }: ApiCall): Readonly<Record<string, string>> => {
  try {
    return matchPath([contract.path, ...contract.aliases], event.path)?.params ?? {};
  } catch {
    return {};
  }
};

const listCredentialStrings = (event: APIGatewayProxyEvent): string[] =>
  [getHeader(event, 'authorization'), extractCredentials(event)?.key, event.queryStringParameters?.apiKey].filter(
    (text) => text !== undefined,
  );

/** One line of JSON in the function's log: enough to find the event, nothing of what the caller sent. */
function logError({ contract, app, event, recorder }: ApiCall, { code, message, cause }: ServiceError): void {
  const secrets = new Set(listCredentialStrings(event));
  sanitize([event.body, event.queryStringParameters], { secrets });
  console.error(
    JSON.stringify({
      level: 'error',
      endpoint: contract.id,
      app: app?.name,
      eventId: recorder.eventId,
      code,
      message: toLoggable(message, secrets),
      cause: toLoggable(cause, secrets),
    }),
  );
}

const getHeader = ({ headers }: APIGatewayProxyEvent, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([header]) => header.toLowerCase() === name)?.[1];
