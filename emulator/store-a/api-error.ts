import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/** An error that the server API answers with a code of its own. */
export interface ApiError extends Error {
  readonly errorCode: number;
}

/** The error to throw; the first three digits of the code are the HTTP status. */
export const apiError = (errorCode: number, errorMessage: string): ApiError =>
  Object.assign(new Error(errorMessage), { errorCode });

/** The answer for something thrown; what is no `ApiError` is thrown on. */
export function toErrorResponse(thrown: unknown): HttpResponse {
  if (!(thrown instanceof Error) || !('errorCode' in thrown) || typeof thrown.errorCode !== 'number') throw thrown;
  const { errorCode, message } = thrown;
  return jsonResponse(Math.floor(errorCode / 10_000), { errorCode, errorMessage: message });
}
