import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Contract } from '../api/contract.ts';
import type { VerifiedKey } from '../apps/api-keys.ts';
import type { App } from '../apps/app.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { saveEvent } from '../events/event-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { findSecrets } from '../foundation/redaction/sanitize.ts';
import { maxResponseBytes } from '../foundation/response-size.ts';
import type { Service } from '../foundation/service.ts';
import { extractCredentials, getHeader } from './authenticate.ts';
import { type ErrorResponse, errorResponses } from './error-response.ts';
import { matchPath } from './match-path.ts';
import type { Reply } from './reply.ts';

/** One request while it is handled. */
export interface ApiCall {
  readonly contract: Contract;
  readonly lambdaEvent: APIGatewayProxyEvent;
  readonly recorder: EventRecorder;
  /** Set after authentication, unless the request is blocked. A call without an app is not recorded. */
  app?: App;
  /** Set together with the app. */
  key?: VerifiedKey;
}

export function createApiCall({ now }: Service, contract: Contract, lambdaEvent: APIGatewayProxyEvent): ApiCall {
  const reqId = getHeader(lambdaEvent, 'x-request-id')?.slice(0, 200);
  const recorder = createEventRecorder({ type: contract.eventType, date: now(), ...(reqId && { reqId }) });
  return { contract, lambdaEvent, recorder };
}

/** Returns the template of the requested path: the documented path or an alias. */
export function matchRoute({ contract, lambdaEvent }: ApiCall): string {
  try {
    return matchPath([contract.path, ...contract.aliases], lambdaEvent.path)?.template ?? contract.path;
  } catch {
    return contract.path;
  }
}

/**
 * Creates the response to a successful call. Throws `InvalidPayload` (413) if it exceeds the response limit of Lambda.
 */
export async function respondWithBody(
  service: Service,
  call: ApiCall,
  { status = 200, body, headers = {} }: Reply<object>,
): Promise<APIGatewayProxyResult> {
  if (Buffer.byteLength(JSON.stringify(body)) > maxResponseBytes)
    throw new ServiceError('InvalidPayload', 'The response is too large. Request fewer rows.', { status: 413 });
  const result = await toHttpResult(call, { status, body: toPlainBody(body) }, { service });
  return { ...result, headers: { ...result.headers, ...headers } };
}

/** Copies the members of a body. The body can be a list. */
const toPlainBody = (body: object): ErrorResponse['body'] =>
  Array.isArray(body) ? (body as unknown as ErrorResponse['body']) : { ...body };

/** Creates the response to a failed call, in the error format of its contract. */
export async function respondWithError(
  service: Service,
  call: ApiCall,
  cause: unknown,
): Promise<APIGatewayProxyResult> {
  const error = toServiceError(cause);
  if (error.retryable) logCallError(call, error);
  return await toHttpResult(call, errorResponses[call.contract.errorFormat](error, matchRoute(call)), {
    service,
    error,
  });
}

/** Errors of the body parser have a status code and are caused by the client. */
function toServiceError(error: unknown): ServiceError {
  const statusCode = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : undefined;
  if (statusCode !== undefined && statusCode < 500)
    return new ServiceError('InvalidPayload', 'The body is not valid JSON.');
  return ServiceError.fromUnknown(error);
}

interface RecordingContext {
  readonly service: Service;
  readonly error?: ServiceError;
}

async function toHttpResult(
  call: ApiCall,
  { status, body }: ErrorResponse,
  context: RecordingContext,
): Promise<APIGatewayProxyResult> {
  await recordCallEvent(call, { status, body }, context);
  const isBrowserCall = call.contract.keyLevel !== 'secret';
  const retryAfterSeconds = context.error?.retryAfterSeconds;
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(isBrowserCall && { 'Access-Control-Allow-Origin': '*' }),
      ...(retryAfterSeconds !== undefined && buildRetryHeaders(retryAfterSeconds, isBrowserCall)),
    },
    body: JSON.stringify(body),
  };
}

/** Scripts on other origins can read the header only if it is exposed. */
const buildRetryHeaders = (seconds: number, isBrowserCall: boolean) => ({
  'Retry-After': String(seconds),
  ...(isBrowserCall && { 'Access-Control-Expose-Headers': 'Retry-After' }),
});

/** A failed write of the event is logged only: the client still receives its response. */
async function recordCallEvent(
  call: ApiCall,
  response: ErrorResponse,
  { service, error }: RecordingContext,
): Promise<void> {
  const { app, lambdaEvent, recorder, contract } = call;
  if (!app) return;

  const isRead = !contract.permissions.some((need) => need === 'write' || need === 'stores');
  if (isRead && !error && app.recordsReads === false) return;
  const { event, raw } = recorder.finish({
    request: {
      method: lambdaEvent.httpMethod,
      route: matchRoute(call),
      query: omitCredentials(lambdaEvent.queryStringParameters ?? {}),
      params: getPathParams(call),
      ...(typeof lambdaEvent.body !== 'string' && { body: lambdaEvent.body }),
    },
    outcome: { status: error?.status ?? response.status, ok: !error, ...(error && { message: error.message }) },
    response: response.body,
    credentials: listCredentialStrings(lambdaEvent),
    isRawOmitted: isRead,
    ...(error && { error: { code: error.code, status: error.status, message: error.message } }),
  });
  try {
    await saveEvent(service, app.name, event, isRead ? undefined : raw);
  } catch (cause) {
    logCallError(call, ServiceError.fromUnknown(cause));
  }
}

const omitCredentials = ({ apiKey: _key, appName: _name, ...query }: Record<string, string | undefined>) => query;

const getPathParams = ({ contract, lambdaEvent }: ApiCall): Readonly<Record<string, string>> => {
  try {
    return matchPath([contract.path, ...contract.aliases], lambdaEvent.path)?.params ?? {};
  } catch {
    return {};
  }
};

const listCredentialStrings = (lambdaEvent: APIGatewayProxyEvent): string[] =>
  [
    getHeader(lambdaEvent, 'authorization'),
    extractCredentials(lambdaEvent)?.key,
    lambdaEvent.queryStringParameters?.apiKey,
  ].filter((text) => text !== undefined);

/** Logs enough to find the event, without any content of the request. */
function logCallError({ contract, app, lambdaEvent, recorder }: ApiCall, error: ServiceError): void {
  const { body, queryStringParameters } = lambdaEvent;
  const secrets = new Set([...listCredentialStrings(lambdaEvent), ...findSecrets([body, queryStringParameters])]);
  logError({ endpoint: contract.id, app: app?.name, eventId: recorder.eventId }, error, secrets);
}
