import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { largestAnswerBytes } from '../api/answer-size.ts';
import type { Contract } from '../api/contract.ts';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { loggable } from '../events/loggable.ts';
import { newRecorder, type Recorder } from '../events/recorder.ts';
import { sanitize } from '../events/sanitize.ts';
import { credentialsOf } from './authenticate.ts';
import { type Answer, errorAnswers } from './error-body.ts';
import { matchPath } from './path.ts';

/** One request while it is handled. */
export interface Call {
  readonly contract: Contract;
  readonly event: APIGatewayProxyEvent;
  readonly recorder: Recorder;
  /** Known once the credentials have been checked; only then is the call recorded. */
  app?: App;
}

const calls = new WeakMap<APIGatewayProxyEvent, Call>();

/** The call of an event, opened at the first asking. */
export function callOf(contract: Contract, event: APIGatewayProxyEvent): Call {
  const open = calls.get(event);
  if (open) return open;
  const reqId = headerOf(event, 'x-request-id')?.slice(0, 200);
  const recorder = newRecorder({ type: contract.eventType, date: Date.now(), ...(reqId && { reqId }) });
  const call: Call = { contract, event, recorder };
  calls.set(event, call);
  return call;
}

/** The template that the path was called by: the documented path or an alias. */
export function routeOf({ contract, event }: Call): string {
  try {
    return matchPath([contract.path, ...contract.aliases], event.path)?.template ?? contract.path;
  } catch {
    return contract.path;
  }
}

/** The answer to a call that succeeded. Throws `InvalidPayload` for one that is too large to be sent. */
export async function answerCall(call: Call, body: object, deps: Deps): Promise<APIGatewayProxyResult> {
  if (Buffer.byteLength(JSON.stringify(body)) > largestAnswerBytes) {
    throw new ServiceError('InvalidPayload', 'The answer is too large: ask for fewer rows at a time.', { status: 413 });
  }
  return await finish(call, { status: 200, body: { ...body } }, { deps });
}

/** The answer to a call that failed, in the dialect of its contract. */
export async function answerError(call: Call, thrown: unknown, deps: Deps): Promise<APIGatewayProxyResult> {
  const error = errorOf(thrown);
  if (error.retryable) logError(call, error);
  return await finish(call, errorAnswers[call.contract.dialect](error, routeOf(call)), { deps, error });
}

/** Errors of the body parser carry a status and are the caller's; all others are as they are. */
function errorOf(thrown: unknown): ServiceError {
  const statusCode = thrown instanceof Error && 'statusCode' in thrown ? Number(thrown.statusCode) : undefined;
  if (statusCode !== undefined && statusCode < 500)
    return new ServiceError('InvalidPayload', 'The body is not valid JSON.');
  return ServiceError.from(thrown);
}

async function finish(
  call: Call,
  { status, body }: Answer,
  { deps, error }: { deps: Deps; error?: ServiceError },
): Promise<APIGatewayProxyResult> {
  await recordCall(call, { status, body }, { deps, ...(error && { error }) });
  const isBrowserCall = call.contract.key !== 'secret';
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
async function recordCall(
  call: Call,
  answer: Answer,
  { deps, error }: { deps: Deps; error?: ServiceError },
): Promise<void> {
  const { app, event, recorder, contract } = call;
  if (!app) return;
  const { event: record, raw } = recorder.finish({
    request: {
      method: event.httpMethod,
      route: routeOf(call),
      query: withoutCredentials(event.queryStringParameters ?? {}),
      params: paramsOf(call),
      ...(typeof event.body !== 'string' && { body: event.body }),
    },
    outcome: { status: error?.status ?? answer.status, ok: !error, ...(error && { message: error.message }) },
    response: answer.body,
    credentials: credentialTexts(event),
    ...(error && { error: { code: error.code, status: error.status, message: error.message } }),
  });
  const isCheapRead = !contract.needs.some((need) => need === 'write' || need === 'stores');
  try {
    await deps.events.record(app.name, record, isCheapRead ? undefined : raw);
  } catch (cause) {
    logError(call, ServiceError.from(cause));
  }
}

const withoutCredentials = ({ apiKey: _key, appName: _name, ...query }: Record<string, string | undefined>) => query;

const paramsOf = ({ contract, event }: Call): Readonly<Record<string, string>> => {
  try {
    return matchPath([contract.path, ...contract.aliases], event.path)?.params ?? {};
  } catch {
    return {};
  }
};

const credentialTexts = (event: APIGatewayProxyEvent): string[] =>
  [headerOf(event, 'authorization'), credentialsOf(event)?.key, event.queryStringParameters?.apiKey].filter(
    (text) => text !== undefined,
  );

/** One line of JSON in the function's log: enough to find the event, nothing of what the caller sent. */
function logError({ contract, app, event, recorder }: Call, { code, message, cause }: ServiceError): void {
  const secrets = new Set(credentialTexts(event));
  sanitize([event.body, event.queryStringParameters], { secrets });
  console.error(
    JSON.stringify({
      level: 'error',
      endpoint: contract.id,
      app: app?.name,
      eventId: recorder.eventId,
      code,
      message: loggable(message, secrets),
      cause: loggable(cause, secrets),
    }),
  );
}

const headerOf = ({ headers }: APIGatewayProxyEvent, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([header]) => header.toLowerCase() === name)?.[1];
