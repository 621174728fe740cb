import { isControlError } from '../control-error.ts';
import { type HttpResponse, jsonResponse } from '../http-messages.ts';
import { generateId } from './account-objects.ts';

/** An error of the processor's API. */
export interface ApiError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The error to throw, of the type for bad requests unless another is named. */
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

/** The error for an id that the account does not know. */
export const notFoundError = (what: string, id: string, param = 'id') =>
  apiError(404, `No such ${what}: '${id}'`, { code: 'resource_missing', param });

/** The answer for something thrown; what is neither an error of the API nor a refusal is thrown on. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (isControlError(error) && !('isApiError' in error)) {
    return toResponse(400, { error: { type: 'invalid_request_error', message: error.message } });
  }
  if (!(error instanceof Error) || !('isApiError' in error)) throw error;
  const { status, body } = error as unknown as ApiError;
  return toResponse(status, body);
}

/** An answer with the headers that every answer of the API has. */
export const toResponse = (status: number, body: unknown, id = generateId('req', 14)): HttpResponse =>
  jsonResponse(status, body, { 'request-id': id, 'stripe-version': apiVersion });

/** The version of the API that the emulator speaks. */
export const apiVersion = '2026-10-28.endive';

/** The answer during an outage. */
export const unavailableResponse = (): HttpResponse =>
  toResponse(500, { error: { type: 'api_error', message: 'An unknown error occurred' } });

/** The answer beyond the rate limit. */
export const rateLimitedResponse = (): HttpResponse =>
  toResponse(429, {
    error: {
      type: 'invalid_request_error',
      code: 'rate_limit',
      message: 'Request rate limit exceeded. Learn more about rate limits in the documentation.',
    },
  });
