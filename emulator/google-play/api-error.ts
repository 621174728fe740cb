import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/** Error of the Google Play Developer API. */
export interface ApiError extends Error {
  readonly httpStatus: number;
  readonly reason: string;
}

/** Creates an API error. */
export const apiError = (httpStatus: number, reason: string, message: string): ApiError =>
  Object.assign(new Error(message), { httpStatus, reason });

/** Converts an `ApiError` to a response. Throws any other error again. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (!isApiError(error)) throw error;
  return buildErrorResponse(error.httpStatus, error.reason, error.message);
}

const isApiError = (error: unknown): error is ApiError =>
  error instanceof Error && 'httpStatus' in error && 'reason' in error;

/** Status names of Google's common error codes. Other errors do not have a status name. */
const statuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** The domain of the reason is `global`. Other reasons belong to this API. */
const isCommon = (reason: string): boolean =>
  ['authError', 'invalid', 'required', 'notFound', 'rateLimitExceeded', 'backendError'].includes(reason);

function buildErrorResponse(code: number, reason: string, message: string): HttpResponse {
  const status = statuses[code];
  const errors = [{ message, domain: isCommon(reason) ? 'global' : 'androidpublisher', reason }];
  return jsonResponse(code, { error: { code, message, errors, ...(status !== undefined && { status }) } });
}

/** Creates the response of an outage. */
export const unavailableResponse = (): HttpResponse =>
  buildErrorResponse(503, 'backendError', 'The service is currently unavailable.');

/** Creates the response of an exceeded quota. */
export const rateLimitedResponse = (): HttpResponse =>
  buildErrorResponse(
    429,
    'rateLimitExceeded',
    "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'androidpublisher.googleapis.com'.",
  );
