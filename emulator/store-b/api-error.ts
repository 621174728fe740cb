import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/** An error that the API answers with an HTTP status, a reason and a message. */
export interface ApiError extends Error {
  readonly httpStatus: number;
  readonly reason: string;
}

/** The error to throw for a call that cannot be answered. */
export const apiError = (httpStatus: number, reason: string, message: string): ApiError =>
  Object.assign(new Error(message), { httpStatus, reason });

/** The answer for something thrown; what is no `ApiProblem` is thrown on. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (!isProblem(error)) throw error;
  return buildErrorResponse(error.httpStatus, error.reason, error.message);
}

const isProblem = (error: unknown): error is ApiError =>
  error instanceof Error && 'httpStatus' in error && 'reason' in error;

/** The words of Google's common codes, which its older errors lack. */
const statuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** Domains of reasons that are this API's own. */
const isCommon = (reason: string): boolean =>
  ['authError', 'invalid', 'required', 'notFound', 'rateLimitExceeded', 'backendError'].includes(reason);

function buildErrorResponse(code: number, reason: string, message: string): HttpResponse {
  const status = statuses[code];
  const errors = [{ message, domain: isCommon(reason) ? 'global' : 'androidpublisher', reason }];
  return jsonResponse(code, { error: { code, message, errors, ...(status !== undefined && { status }) } });
}

/** The answer during an outage. */
export const unavailableResponse = (): HttpResponse =>
  buildErrorResponse(503, 'backendError', 'The service is currently unavailable.');

/** The answer beyond the quota. */
export const rateLimitedResponse = (): HttpResponse =>
  buildErrorResponse(
    429,
    'rateLimitExceeded',
    "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'androidpublisher.googleapis.com'.",
  );
