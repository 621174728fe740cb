import type { HttpResponse, StoreHttpRequest } from '../http-messages.ts';
import type { AccountState } from './account-state.ts';
import { apiError } from './api-error.ts';

/** The account whose API is called. */
export interface Account {
  readonly state: AccountState;
  readonly secretKey: string;
  /** What was answered to calls with an idempotency key, by that key. */
  readonly idempotentResponses: Map<string, { readonly call: string; readonly answer: HttpResponse }>;
}

/** The key of the account that is called. */
export function getApiKey({ headers }: StoreHttpRequest): string {
  const [scheme = '', credentials = ''] = (headers.authorization ?? '').split(' ');
  return scheme === 'Basic' ? Buffer.from(credentials, 'base64').toString().replace(/:$/, '') : credentials;
}

/** The error for another key, or none. */
export const invalidApiKeyError = (given: string) =>
  apiError(401, given ? `Invalid API Key provided: ${given.slice(0, 8)}****` : 'You did not provide an API key.');

/** The same key gives the same answer again; with other parameters it is an error. */
export function respondIdempotently(
  { idempotentResponses }: Account,
  call: StoreHttpRequest,
  response: () => HttpResponse,
): HttpResponse {
  const key = call.headers['idempotency-key'];
  if (call.method !== 'POST' || typeof key !== 'string') return response();
  const content = `${call.path}\n${call.body.toString('utf8')}`;
  const earlier = idempotentResponses.get(key);
  if (earlier === undefined) {
    const first = response();
    idempotentResponses.set(key, { call: content, answer: first });
    return first;
  }
  if (earlier.call !== content) {
    const message = 'Keys for idempotent requests can only be used with the same parameters they were first used with.';
    throw apiError(400, message, { type: 'idempotency_error' });
  }
  return { ...earlier.answer, headers: { ...earlier.answer.headers, 'idempotent-replayed': 'true' } };
}
