import * as v from 'valibot';
import type { StoreContext, StoreFetch, StoreResponse } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { parseResponse, storeName, unavailableError } from './api-errors.ts';
import { getApiToken } from './api-token.ts';
import type { Environment } from './payloads.ts';
import { type AppStoreSettings, getApiKey } from './settings.ts';

/** Apple renamed the hosts in May 2026. The former names end in itunes.apple.com. */
export const hosts: Readonly<Record<Environment, string>> = {
  Production: 'https://api.storekit.apple.com',
  Sandbox: 'https://api.storekit-sandbox.apple.com',
};

/**
 * The result of an API call.
 * - `notFound`: the environment does not contain the requested id.
 * - `unauthorized`: the environment rejected the API key, or does not contain the app. `reason` is for logs.
 */
export type ApiResult<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'notFound' }
  | { readonly kind: 'unauthorized'; readonly reason: string };

/**
 * The response to an action.
 * - `rejected`: Apple does not perform the action, now and later.
 * - `unauthorized`: the API key was rejected. `reason` is for logs.
 */
export type RawResult =
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'rejected'; readonly errorCode?: number }
  | { readonly kind: 'unauthorized'; readonly reason: string };

/**
 * A client for the App Store Server API. All methods throw `ConnectionFailed` for outages, rate limits and unexpected
 * responses.
 * @see https://developer.apple.com/documentation/appstoreserverapi
 */
export interface AppStoreServerApi {
  get<S extends v.GenericSchema>(
    environment: Environment,
    path: string,
    schema: S,
  ): Promise<ApiResult<v.InferOutput<S>>>;
  post<S extends v.GenericSchema>(
    environment: Environment,
    path: string,
    request: { readonly body: object; readonly schema: S },
  ): Promise<ApiResult<v.InferOutput<S>>>;
  /** Sends an action. */
  send(
    environment: Environment,
    path: string,
    request: { readonly method: 'PUT' | 'POST'; readonly body?: object },
  ): Promise<RawResult>;
}

function createAppStoreServerApi(fetch: StoreFetch, token: string): AppStoreServerApi {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  return {
    async get(environment, path, schema) {
      return toApiResult(await fetch(`${hosts[environment]}${path}`, { headers }), schema);
    },
    async post(environment, path, { body, schema }) {
      const response = await fetch(`${hosts[environment]}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return toApiResult(response, schema);
    },
    async send(environment, path, { method, body }) {
      const response = await fetch(`${hosts[environment]}${path}`, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      return toRawResult(response);
    },
  };
}

const toApiResult = <S extends v.GenericSchema>(response: StoreResponse, schema: S): ApiResult<v.InferOutput<S>> =>
  response.status === 200 ? { kind: 'found', value: parseResponse(schema, response.text) } : toApiFailure(response);

/** Apple returns 403 with an error code for an action that is not possible. */
function toRawResult({ status, text }: StoreResponse): RawResult {
  if (status >= 200 && status < 300) return { kind: 'accepted', text };
  if (status === 401) return { kind: 'unauthorized', reason: `HTTP ${status}` };
  if (status >= 500 || status === 429) throw unavailableError(`HTTP ${status}`);
  const { errorCode } = parseResponse(ApiErrorBody, text);
  if (errorCode === appNotFoundErrorCode) return { kind: 'unauthorized', reason: 'The app is not found.' };
  // Apple returns these codes for an id that it can find later.
  if (retryableErrorCodes.has(errorCode)) throw unavailableError(`error ${errorCode}`);
  return { kind: 'rejected', errorCode };
}

/** AccountNotFoundRetryable, AppNotFoundRetryable, OriginalTransactionIdNotFoundRetryable. */
const retryableErrorCodes: ReadonlySet<number> = new Set([4040002, 4040004, 4040006]);

const ApiErrorBody = v.object({ errorCode: v.number() });

/**
 * InvalidTransactionId, AccountNotFound, OriginalTransactionIdNotFound, TransactionIdNotFound,
 * AppTransactionDoesNotExist.
 * @see https://developer.apple.com/documentation/appstoreserverapi/error_codes
 */
const notFoundErrorCodes = new Set([4000006, 4040001, 4040005, 4040010, 4040019]);
const appNotFoundErrorCode = 4040003;

/** A 401 lacks a JSON body. Production also returns 401 for an app that has not been released yet. */
function toApiFailure({ status, text }: StoreResponse): ApiResult<never> {
  if (status === 401 || status === 403) return { kind: 'unauthorized', reason: `HTTP ${status}` };
  if (status >= 500 || status === 429) throw unavailableError(`HTTP ${status}`);
  const { errorCode } = parseResponse(ApiErrorBody, text);
  if (notFoundErrorCodes.has(errorCode)) return { kind: 'notFound' };
  if (errorCode === appNotFoundErrorCode) return { kind: 'unauthorized', reason: 'The app is not found.' };
  throw unavailableError(`HTTP ${status}, error ${errorCode}`);
}

/**
 * Creates an App Store Server API client with the app's key. Returns undefined if the settings contain no key. Throws
 * `InternalError` if the key is unusable.
 */
export async function connectAppStore(
  settings: AppStoreSettings,
  { fetch, now }: Pick<StoreContext, 'fetch' | 'now'>,
): Promise<AppStoreServerApi | undefined> {
  const key = getApiKey(settings);
  return key && createAppStoreServerApi(fetch, await getApiToken(key, settings.bundleId, now()));
}

/**
 * Limits the calls of one operation. Leaves enough time to validate by the signature alone if the App Store is slow.
 */
export const withRequestBudget = (calls: BudgetedCalls): StoreFetch =>
  withTimeBudget(calls, { totalMs: 10_500, maxCallMs: 4_500, storeName });
