import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/** Error of the store's services, with an inner error code. */
export interface ServiceApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly inner: string;
}

const serviceApiError = (status: number, code: string, inner: string, message: string): ServiceApiError =>
  Object.assign(new Error(message), { status, code, inner });

/** Creates the error of a request without valid credentials. */
export const unauthorizedError = (inner: keyof typeof unauthorizedMessages): ServiceApiError =>
  serviceApiError(401, 'Unauthorized', inner, unauthorizedMessages[inner]);

const unauthorizedMessages = {
  AuthenticationTokenInvalid: 'Authentication token supplied is invalid',
  PartnerAadTicketRequired: 'A partner AAD ticket is required to perform this operation.',
  InconsistentClientId: 'The client ID in the key and in the access token do not match.',
} as const;

/** Creates the error of an invalid request. */
export const badRequestError = (message: string): ServiceApiError =>
  serviceApiError(400, 'BadRequest', 'InvalidParameter', message);

/** Creates the error of a request for a missing entity. */
export const notFoundError = (message: string): ServiceApiError =>
  serviceApiError(404, 'NotFound', 'EntityNotFound', message);

/** Converts a `ServiceApiError` to a response. Throws any other error again. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (!isServiceApiError(error)) throw error;
  const { status, code, inner, message } = error;
  const innererror = { code: inner, data: [], details: [], message, source: 'StoreService' };
  return jsonResponse(status, { code, data: [], details: [], innererror, message, source: 'StoreService' });
}

const isServiceApiError = (error: unknown): error is ServiceApiError =>
  error instanceof Error && 'inner' in error && typeof error.inner === 'string';
