import { isControlError } from '../control-error.ts';
import { type HttpResponse, jsonResponse } from '../http-messages.ts';
import { generateId } from './account-objects.ts';

/**
 * An error response of the API.
 *
 * @see https://docs.stripe.com/api/errors
 */
export interface ApiError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Creates an API error. The default type is `invalid_request_error`. */
export const apiError = (
  status: number,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): ApiError & { readonly isApiError: true } =>
  Object.assign(new Error(message), {
    isApiError: true as const,
    status,
    body: { error: { type: 'invalid_request_error', message, ...details } },
  });

/** Creates the error for an unknown id. */
export const notFoundError = (type: string, id: string, param = 'id') =>
  apiError(404, `No such ${type}: '${id}'`, { code: 'resource_missing', param });

/** Converts an API error or a control error to a response. Rethrows other errors. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (isControlError(error) && !('isApiError' in error)) {
    return toResponse(400, { error: { type: 'invalid_request_error', message: error.message } });
  }
  if (!(error instanceof Error) || !('isApiError' in error)) throw error;
  const { status, body } = error as unknown as ApiError;
  return toResponse(status, body);
}

/** Creates a response with the common headers of the API. */
export const toResponse = (status: number, body: unknown, id = generateId('req', 14)): HttpResponse =>
  jsonResponse(status, body, { 'request-id': id, 'stripe-version': apiVersion });

/**
 * API version of all responses and events.
 *
 * @see https://docs.stripe.com/api/versioning
 */
export const apiVersion = '2026-10-28.endive';

/** Creates the response during an outage. */
export const unavailableResponse = (): HttpResponse =>
  toResponse(500, { error: { type: 'api_error', message: 'An unknown error occurred' } });

/** Creates the response above the rate limit. */
export const rateLimitedResponse = (): HttpResponse =>
  toResponse(429, {
    error: {
      type: 'invalid_request_error',
      code: 'rate_limit',
      message: 'Request rate limit exceeded. Learn more about rate limits in the documentation.',
    },
  });
