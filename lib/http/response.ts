import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Contract, ErrorFormat } from '../api/contract.ts';
import { maxResponseBytes } from '../api/limits.ts';
import { clientOptions } from '../foundation/container.ts';
import { type ErrorCode, ServiceError } from '../foundation/errors.ts';
import { secondMs } from '../foundation/time.ts';

export type ApiHandler = (lambdaEvent: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

interface CallSteps {
  /** Runs before the body is parsed. */
  readonly before?: () => Promise<void>;
  readonly respond: () => Promise<APIGatewayProxyResult>;
  readonly respondWithError: (error: unknown) => Promise<APIGatewayProxyResult>;
}

/** Clients send JSON with four content types or none. The package's types lack the option. */
const ignoreContentType: object = { disableContentTypeCheck: true };

/** Ends a call before Lambda and API Gateway do, which leaves the time to record its event and to respond. */
const timeLimit = {
  timeoutEarlyInMillis: secondMs,
  timeoutEarlyResponse: (): never => {
    const cause = `Pending: ${clientOptions().requestHandler?.listPending?.() || 'none'}`;
    throw new ServiceError('InternalError', 'The service timed out.', { status: 504, cause });
  },
};

export interface JsonResponse {
  readonly status: number;
  readonly body: object;
}

/** A response with its own status or headers. */
export interface Reply<T> {
  readonly body: T;
  readonly status?: 200 | 201;
  /** In addition to the headers of every response. Replaces `Cache-Control`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a client can do if the body is too large. Default: `Request fewer rows.` */
  readonly sizeAdvice?: string;
}

/** Clients of the processor endpoints expect this number for every error, a missing field as well as a wrong token. */
const processorCode = 6778003;

/** Codes of IAPKit, which OpenIAP clients show in their logs. */
const openIapCodes: Readonly<Partial<Record<ErrorCode, string>>> = {
  InvalidPayload: 'INVALID_INPUT',
  Forbidden: 'INVALID_API_KEY',
  AppNotFound: 'INVALID_API_KEY',
  ConnectionFailed: 'SERVICE_BUSY',
};
const openIapStatusCodes: Readonly<Record<number, string>> = { 413: 'PAYLOAD_TOO_LARGE', 429: 'RATE_LIMITED' };

/** Builds the response to an error, by error format. */
export const errorResponses: Readonly<Record<ErrorFormat, (error: ServiceError, route: string) => JsonResponse>> = {
  default: ({ status, code, message, data }, route) => ({
    status,
    body: { ...data, ok: false, route, status, code, message },
  }),
  // Clients read the body of a failed validation only if the HTTP status is 200.
  validation: (error, route) => ({
    status: 200,
    body: {
      ok: false,
      route,
      status: error.status,
      code: error.number,
      message: error.message,
      data: { ...error.data, latest_receipt: true, code: error.number, error: { message: error.message } },
    },
  }),
  processor: ({ status, message }) => ({ status, body: { ok: false, status, code: processorCode, message } }),
  // Clients read the message only if the HTTP status is 200.
  'client-token': ({ message }) => ({ status: 200, body: { success: false, message } }),
  openiap: ({ status, code, message }) => ({
    status,
    body: { errors: [{ code: openIapStatusCodes[status] ?? openIapCodes[code] ?? 'UNKNOWN_ERROR', message }] },
  }),
};

const replies = new WeakSet<object>();

/** Handles one call: parses the JSON body in place, and responds to the error of any step. */
export async function runHandler(
  { body }: Contract,
  [lambdaEvent, context]: Parameters<ApiHandler>,
  { before = async () => {}, respond, respondWithError }: CallSteps,
): Promise<APIGatewayProxyResult> {
  const run = middy<APIGatewayProxyEvent, APIGatewayProxyResult>(timeLimit)
    .onError(async ({ error }) => await respondWithError(error))
    .before(before)
    .use(body ? [jsonBodyParser(ignoreContentType)] : [])
    .handler(respond);
  return await run(lambdaEvent, context);
}

/** Returns the response to a successful call. Throws `InvalidPayload` (413) above the response limit of Lambda. */
export function toBodyResponse({
  status = 200,
  body,
  sizeAdvice = 'Request fewer rows.',
}: Reply<object>): JsonResponse {
  if (Buffer.byteLength(JSON.stringify(body)) > maxResponseBytes)
    throw new ServiceError('InvalidPayload', `The response is too large. ${sizeAdvice}`, { status: 413 });
  return { status, body };
}

/** Returns the response to a failed call, in the error format of its contract. */
export const toErrorResponse = ({ errorFormat }: Contract, error: ServiceError, route: string): JsonResponse =>
  errorResponses[errorFormat](error, route);

/** Errors of the body parser have a status code and are caused by the client. */
export function toServiceError(error: unknown): ServiceError {
  const statusCode = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : undefined;
  if (statusCode !== undefined && statusCode < 500)
    return new ServiceError('InvalidPayload', 'The body is not valid JSON.');
  return ServiceError.fromUnknown(error);
}

/** Builds what API Gateway sends. */
export function toHttpResult(
  { keyLevel }: Contract,
  { status, body }: JsonResponse,
  { error, headers = {} }: { error?: ServiceError; headers?: Reply<object>['headers'] },
): APIGatewayProxyResult {
  const isBrowserCall = keyLevel !== 'secret';
  const retryAfterSeconds = error?.retryAfterSeconds;
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(isBrowserCall && {
        'Access-Control-Allow-Origin': '*',
        // Scripts on other origins can read other headers only if they are exposed.
        'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id',
      }),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** Creates the result of a handler whose response has its own status or headers. */
export function createReply<T>(reply: Reply<T>): Reply<T> {
  replies.add(reply);
  return reply;
}

/** Returns the reply of a handler, which can also return the body only. */
export const toReply = <T extends object>(result: T | Reply<T>): Reply<T> =>
  replies.has(result) ? (result as Reply<T>) : { body: result as T };
