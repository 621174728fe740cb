import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/**
 * Error of the App Store Server API.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/error-codes
 */
export interface ApiError extends Error {
  readonly errorCode: number;
}

/** Creates an API error. The first three digits of the code are the HTTP status. */
export const apiError = (errorCode: number, errorMessage: string): ApiError =>
  Object.assign(new Error(errorMessage), { errorCode });

/** Converts an `ApiError` to a response. Throws any other error again. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (!(error instanceof Error) || !('errorCode' in error) || typeof error.errorCode !== 'number') throw error;
  const { errorCode, message } = error;
  return jsonResponse(Math.floor(errorCode / 10_000), { errorCode, errorMessage: message });
}
