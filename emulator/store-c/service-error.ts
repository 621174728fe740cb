import { type HttpResponse, jsonResponse } from '../http-messages.ts';

/** An error that the store's services answer with an HTTP status, a code and a code of its own inside. */
export interface ServiceApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly inner: string;
}

const problem = (status: number, code: string, inner: string, message: string): ServiceApiError =>
  Object.assign(new Error(message), { status, code, inner });

/** The error of a request without the credentials that it needs. */
export const unauthorizedError = (inner: keyof typeof refusals): ServiceApiError =>
  problem(401, 'Unauthorized', inner, refusals[inner]);

const refusals = {
  AuthenticationTokenInvalid: 'Authentication token supplied is invalid',
  PartnerAadTicketRequired: 'A partner AAD ticket is required to perform this operation.',
  InconsistentClientId: 'The client ID in the key and in the access token do not match.',
} as const;

/** The error of a request that is not as documented. */
export const badRequestError = (message: string): ServiceApiError =>
  problem(400, 'BadRequest', 'InvalidParameter', message);

/** The error of a request for what is not there. */
export const notFoundError = (message: string): ServiceApiError => problem(404, 'NotFound', 'EntityNotFound', message);

/** The answer for something thrown; what is no `ServiceProblem` is thrown on. */
export function toErrorResponse(error: unknown): HttpResponse {
  if (!isProblem(error)) throw error;
  const { status, code, inner, message } = error;
  const innererror = { code: inner, data: [], details: [], message, source: 'StoreService' };
  return jsonResponse(status, { code, data: [], details: [], innererror, message, source: 'StoreService' });
}

const isProblem = (error: unknown): error is ServiceApiError =>
  error instanceof Error && 'inner' in error && typeof error.inner === 'string';
