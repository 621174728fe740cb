import type { BraintreeGateway } from 'braintree';
import type { StoreContext, StoreFetch, StoreFetchOptions } from '../store-context.ts';
import type { BudgetedCalls } from '../time-budget.ts';
import { isBraintreeError, toServiceError, unavailableError } from './api-errors.ts';
import { parseStoredSettings } from './settings.ts';

/**
 * Version of the Braintree client whose private members are replaced here. A test compares it to the installed version.
 */
export const patchedClientVersion = '3.40.0';

/** Private HTTP object of the client (`lib/braintree/http.js`). The types of the package omit it. */
export interface BraintreeHttp {
  _headers: () => Readonly<Record<string, string>>;
  checkHttpStatus: (status: number) => Error | null;
  httpRequest: (
    method: NonNullable<StoreFetchOptions['method']>,
    path: string,
    body: object | null,
  ) => Promise<unknown>;
}

const apiUrls = {
  production: 'https://api.braintreegateway.com',
  sandbox: 'https://api.sandbox.braintreegateway.com',
} as const;

/**
 * Creates the official client. Its requests use the recording fetch and share one time budget.
 *
 * @see https://developer.paypal.com/braintree/docs/start/hello-server/node
 */
export async function createGateway({
  settings,
  ...calls
}: Pick<StoreContext, 'settings' | 'fetch' | 'stopwatch'>): Promise<BraintreeGateway> {
  const { merchantId, publicKey, privateKey, environment } = parseStoredSettings(settings);
  const { default: braintree } = await import('braintree');
  const { Production, Sandbox } = braintree.Environment;
  const gateway = new braintree.BraintreeGateway({
    environment: environment === 'production' ? Production : Sandbox,
    merchantId,
    publicKey,
    privateKey,
  });
  const http = getHttp(gateway);
  http.httpRequest = await createHttpRequest(withRequestBudget(calls), apiUrls[environment], http);
  return gateway;
}

/** Returns the private HTTP object of a gateway. */
export const getHttp = (gateway: BraintreeGateway): BraintreeHttp =>
  (gateway as unknown as { readonly http: BraintreeHttp }).http;

/** Parser options of the official client. */
const xmlOptions = { attrkey: '@', charkey: '#', explicitArray: false };

/**
 * Creates the replacement of `httpRequest`. It serializes and parses like the original, with the client's own
 * functions.
 */
async function createHttpRequest(
  fetch: StoreFetch,
  apiUrl: string,
  http: BraintreeHttp,
): Promise<BraintreeHttp['httpRequest']> {
  // Bundled CommonJS modules have a default export only.
  const [{ default: braintreeUtil }, { default: xml2js }] = await Promise.all([
    import('braintree/lib/braintree/util.js'),
    import('xml2js'),
  ]);
  const { Util } = braintreeUtil;
  return async (method, path, body) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: { ...http._headers(), 'Accept-Encoding': 'identity' },
      ...(body && { body: JSON.stringify(Util.convertObjectKeysToUnderscores(body)) }),
    });
    const error = http.checkHttpStatus(response.status);
    if (error) throw error;
    if (response.text.trim() === '') return {};
    return Util.convertNodeToObject(await xml2js.parseStringPromise(response.text, xmlOptions));
  };
}

/** Runs a call of the Braintree client. Errors of the client become `ServiceError`s. */
export async function callBraintree<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toServiceError(error);
  }
}

/** Runs a call of the Braintree client. Returns undefined if the id is not found. */
export const findOrUndefined = async <T>(call: () => Promise<T>): Promise<T | undefined> =>
  await callBraintree(() =>
    call().catch((error: unknown) => {
      if (isBraintreeError(error, 'notFoundError')) return undefined;
      throw error;
    }),
  );

/** A new subscription takes four calls, and API Gateway ends a request after 29 s. */
const totalMs = 24_000;

/** A payment can take long, and the outcome of an aborted payment is unknown. */
const maxCallMs = 12_000;
const minReadMs = 250;

/** Minimum remaining time for a write. The outcome of an aborted write is unknown until it is queried. */
const minWriteMs = 5_000;

/** Wraps a fetch so that all of its calls together stay within the budget. */
export function withRequestBudget({ fetch, stopwatch }: BudgetedCalls): StoreFetch {
  const end = stopwatch.readMs() + totalMs;
  return async (url, init = {}) => {
    const remainingMs = Math.floor(end - stopwatch.readMs());
    const isRead = (init.method ?? 'GET') === 'GET' || /\/advanced_search(?:_ids)?$/.test(url);
    if (remainingMs < (isRead ? minReadMs : minWriteMs)) throw unavailableError('The time budget is exceeded.');
    return await fetch(url, { ...init, timeoutMs: Math.min(maxCallMs, remainingMs) });
  };
}
