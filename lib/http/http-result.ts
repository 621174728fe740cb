import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Contract } from '../api/contract.ts';
import { ServiceError } from '../foundation/errors.ts';
import { maxResponseBytes } from '../foundation/response-size.ts';
import { errorResponses, type JsonResponse } from './error-response.ts';

/** Returns the response to a successful call. Throws `InvalidPayload` (413) above the response limit of Lambda. */
export function toBodyResponse({ status = 200, body }: Reply<object>): JsonResponse {
  if (Buffer.byteLength(JSON.stringify(body)) > maxResponseBytes)
    throw new ServiceError('InvalidPayload', 'The response is too large. Request fewer rows.', { status: 413 });
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

/** A response with its own status or headers. */
export interface Reply<T> {
  readonly body: T;
  readonly status?: 200 | 201;
  /** In addition to the headers of every response. Replaces `Cache-Control`. */
  readonly headers?: Readonly<Record<string, string>>;
}

const replies = new WeakSet<object>();

/** Creates the result of a handler whose response has its own status or headers. */
export function createReply<T>(reply: Reply<T>): Reply<T> {
  replies.add(reply);
  return reply;
}

/** Returns the reply of a handler, which can also return the body only. */
export const toReply = <T extends object>(result: T | Reply<T>): Reply<T> =>
  replies.has(result) ? (result as Reply<T>) : { body: result as T };
