import * as v from 'valibot';
import type { StoreFetch, StoreResponse } from '../store-context.ts';
import { parseResponse, unavailableError } from './api-errors.ts';
import type { Environment } from './payloads.ts';

/** Changed in May 2026; the hosts under itunes.apple.com are the former names. */
const hosts: Readonly<Record<Environment, string>> = {
  Production: 'https://api.storekit.apple.com',
  Sandbox: 'https://api.storekit-sandbox.apple.com',
};

/** What a call came to: an answer, nothing known under that id here, or our key not accepted here. */
export type ApiResult<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Calls of the App Store Server API in either environment. */
export interface AppStoreServerApi {
  /** Throws `ConnectionFailed` for whatever is no answer: an outage, a rate limit, a page, other words than expected. */
  get<S extends v.GenericSchema>(
    environment: Environment,
    path: string,
    schema: S,
  ): Promise<ApiResult<v.InferOutput<S>>>;
  /** The same with a question as JSON, for what Apple wants asked so. */
  post<S extends v.GenericSchema>(
    environment: Environment,
    path: string,
    question: { readonly body: object; readonly schema: S },
  ): Promise<ApiResult<v.InferOutput<S>>>;
}

/** The API, called with the token. */
export function createAppStoreServerApi(fetch: StoreFetch, token: string): AppStoreServerApi {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  return {
    async get(environment, path, schema) {
      return toApiResult(await fetch(`${hosts[environment]}${path}`, { headers }), schema);
    },
    async post(environment, path, { body, schema }) {
      const question = { method: 'POST', body: JSON.stringify(body) } as const;
      const typed = { ...headers, 'content-type': 'application/json' };
      return toApiResult(await fetch(`${hosts[environment]}${path}`, { ...question, headers: typed }), schema);
    },
  };
}

const toApiResult = <S extends v.GenericSchema>(response: StoreResponse, schema: S): ApiResult<v.InferOutput<S>> =>
  response.status === 200 ? { kind: 'found', value: parseResponse(schema, response.text) } : toApiFailure(response);

const ApiErrorBody = v.object({ errorCode: v.number() });

/** Invalid transaction id; account, original transaction or transaction not found; no download of the application. */
const notFoundErrorCodes = new Set([4000006, 4040001, 4040005, 4040010, 4040019]);
const appNotFound = 4040003;

/** Apple refuses a key with 401 and no JSON; so it answers in production for an application never released there. */
function toApiFailure({ status, text }: StoreResponse): ApiResult<never> {
  if (status === 401 || status === 403) return { kind: 'refused', reason: `HTTP ${status}` };
  if (status >= 500 || status === 429) throw unavailableError(`HTTP ${status}`);
  const { errorCode } = parseResponse(ApiErrorBody, text);
  if (notFoundErrorCodes.has(errorCode)) return { kind: 'missing' };
  if (errorCode === appNotFound) return { kind: 'refused', reason: 'the application is not known to the App Store' };
  throw unavailableError(`HTTP ${status}, error ${errorCode}`);
}
