import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Contract } from '../api/contract.ts';
import type { App, VerifiedKey } from '../apps/app.ts';
import { createEventRecorder, type EventRecorder, exportSpans } from '../events/event-recorder.ts';
import { saveEvent } from '../events/event-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { createRequestEventId } from '../foundation/event-id.ts';
import { logError } from '../foundation/log.ts';
import { findSecrets } from '../foundation/redaction/sanitize.ts';
import type { Service } from '../foundation/service.ts';
import { extractCredentials } from './authenticate.ts';
import { getHeader, isObject, matchPath, matchRoute } from './request.ts';
import {
  type JsonResponse,
  type Reply,
  toBodyResponse,
  toErrorResponse,
  toHttpResult,
  toServiceError,
} from './response.ts';

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
  const date = now();
  const eventId = createRequestEventId(date, lambdaEvent.requestContext.requestId);
  const recorder = createEventRecorder({ type: contract.eventType, date, eventId, ...(reqId && { reqId }) });
  return { contract, lambdaEvent, recorder };
}

/**
 * Creates the response to a successful call, and records its event. Throws `InvalidPayload` (413) above the response
 * limit of Lambda.
 */
export async function respondWithBody(
  service: Service,
  call: ApiCall,
  reply: Reply<object>,
): Promise<APIGatewayProxyResult> {
  const response = toBodyResponse(reply);
  await recordCallEvent(service, call, response);
  return toHttpResult(call.contract, response, { headers: { ...buildRequestIdHeader(call), ...reply.headers } });
}

/** Creates the response to a failed call, in the error format of its contract, and records its event. */
export async function respondWithError(
  service: Service,
  call: ApiCall,
  cause: unknown,
): Promise<APIGatewayProxyResult> {
  const error = toServiceError(cause);
  if (error.retryable) logCallError(call, error);
  const response = toErrorResponse(call.contract, error, matchRoute(call.contract, call.lambdaEvent));
  await recordCallEvent(service, call, response, error);
  return toHttpResult(call.contract, response, { error, headers: buildRequestIdHeader(call) });
}

/** The id finds the event of the request. A header cannot have other characters. */
const buildRequestIdHeader = ({ recorder: { requestId, eventId } }: ApiCall) => ({
  'X-Request-Id': /^[\x20-\x7e]+$/.test(requestId) ? requestId : eventId,
});

/** A failed write of the event is logged only: the client still receives its response. */
async function recordCallEvent(
  service: Service,
  call: ApiCall,
  response: JsonResponse,
  error?: ServiceError,
): Promise<void> {
  const { app, lambdaEvent, recorder, contract } = call;
  if (!app) return;

  const isRead = !contract.permissions.some((need) => need === 'write' || need === 'stores');
  if (isRead && !error && app.recordsReads === false) return;
  const { event, raw } = recorder.finish({
    request: {
      method: lambdaEvent.httpMethod,
      route: matchRoute(contract, lambdaEvent),
      query: omitCredentials(lambdaEvent.queryStringParameters ?? {}),
      params: getPathParams(call),
      ...(isObject(lambdaEvent.body) && { body: lambdaEvent.body }),
    },
    outcome: { status: error?.status ?? response.status, ok: !error },
    response: response.body,
    credentials: listCredentialStrings(lambdaEvent),
    isRawOmitted: isRead,
    ...(error && { error }),
  });
  try {
    const saved = saveEvent(service, app.name, event, isRead ? undefined : raw);
    await Promise.all([saved, exportSpans(service, { appName: app.name, event, raw })]);
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
  const { eventId, requestId } = recorder;
  logError({ endpoint: contract.id, app: app?.name, eventId, requestId }, error, secrets);
}
