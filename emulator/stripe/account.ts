import type { HttpResponse, StoreHttpRequest } from '../http-messages.ts';
import type { AccountState } from './account-state.ts';
import { apiError } from './api-error.ts';

/** An account and its API credentials. */
export interface Account {
  readonly state: AccountState;
  readonly secretKey: string;
  /** Responses by idempotency key. */
  readonly idempotentResponses: Map<string, { readonly request: string; readonly response: HttpResponse }>;
}

/** Returns the API key of a request. */
export function getApiKey({ headers }: StoreHttpRequest): string {
  const [scheme = '', credentials = ''] = (headers.authorization ?? '').split(' ');
  return scheme === 'Basic' ? Buffer.from(credentials, 'base64').toString().replace(/:$/, '') : credentials;
}

/** Creates the error for a wrong or missing API key. */
export const invalidApiKeyError = (key: string) =>
  apiError(401, key ? `Invalid API Key provided: ${key.slice(0, 8)}****` : 'You did not provide an API key.');

/**
 * Replays the response of an earlier request with the same idempotency key. Throws if the parameters differ.
 *
 * @see https://docs.stripe.com/api/idempotent_requests
 */
export function respondIdempotently(
  { idempotentResponses }: Account,
  call: StoreHttpRequest,
  respond: () => HttpResponse,
): HttpResponse {
  const key = call.headers['idempotency-key'];
  if (call.method !== 'POST' || typeof key !== 'string') return respond();
  const request = `${call.path}\n${call.body.toString('utf8')}`;
  const earlier = idempotentResponses.get(key);
  if (earlier === undefined) {
    const response = respond();
    idempotentResponses.set(key, { request, response });
    return response;
  }
  if (earlier.request !== request) {
    const message = 'Keys for idempotent requests can only be used with the same parameters they were first used with.';
    throw apiError(400, message, { type: 'idempotency_error' });
  }
  return { ...earlier.response, headers: { ...earlier.response.headers, 'idempotent-replayed': 'true' } };
}
