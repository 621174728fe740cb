import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/** An error that the server API answers with a code of its own. */
export interface ApiError extends Error {
  readonly errorCode: number;
}

/** The error to throw; the first three digits of the code are the HTTP status. */
export const apiError = (errorCode: number, errorMessage: string): ApiError =>
  Object.assign(new Error(errorMessage), { errorCode });

/** The answer for something thrown; what is no `ApiError` is thrown on. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (!(error instanceof Error) || !('errorCode' in error) || typeof error.errorCode !== 'number') throw error;
  const { errorCode, message } = error;
  return jsonResponse(Math.floor(errorCode / 10_000), { errorCode, errorMessage: message });
}
