import type { BraintreeGateway } from 'braintree';
import { ServiceError } from '../../shared/errors.ts';
import type { StoreContext, StoreFetch, StoreRequest } from '../store-context.ts';
import { parseXml } from './parse-xml.ts';
import { withRequestBudget } from './request-budget.ts';
import { parseStoredSettings } from './settings.ts';

/** What the client's own http object offers, which its types leave out. */
interface BraintreeHttp {
  _headers: () => Readonly<Record<string, string>>;
  checkHttpStatus: (status: number) => Error | null;
  httpRequest: (method: NonNullable<StoreRequest['method']>, path: string, body: unknown) => Promise<unknown>;
}

/**
 * The official client of the merchant in the settings, calling through the fetch that records and ends in time: all of its
 * calls have one deadline.
 */
export async function createGateway({
  settings,
  fetch,
}: Pick<StoreContext, 'settings' | 'fetch'>): Promise<BraintreeGateway> {
  const { merchantId, publicKey, privateKey, environment } = parseStoredSettings(settings);
  const { default: braintree } = await import('braintree');
  const { Production, Sandbox } = braintree.Environment;
  const gateway = new braintree.BraintreeGateway({
    environment: environment === 'production' ? Production : Sandbox,
    merchantId,
    publicKey,
    privateKey,
  });
  const host = environment === 'production' ? 'api.braintreegateway.com' : 'api.sandbox.braintreegateway.com';
  const { http } = gateway as unknown as { readonly http: BraintreeHttp };
  http.httpRequest = createRequest(withRequestBudget(fetch), `https://${host}`, http);
  return gateway;
}

const createRequest = (
  fetch: StoreFetch,
  host: string,
  { _headers, checkHttpStatus }: BraintreeHttp,
): BraintreeHttp['httpRequest'] =>
  async function (this: BraintreeHttp, method, path, body) {
    const response = await fetch(host + path, {
      method,
      headers: { ..._headers.call(this), 'Accept-Encoding': 'identity' },
      ...(body ? { body: JSON.stringify(toSnakeCaseKeys(body)) } : {}),
    });
    const error = checkHttpStatus.call(this, response.status);
    if (error) throw error;
    return response.text.trim() === '' ? {} : parseXml(response.text);
  };

function toSnakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCaseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [toSnakeCase(name), toSnakeCaseKeys(inner)]));
}

const toSnakeCase = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();

/** What the call gives; the client's errors become this service's. */
export async function callBraintree<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw toServiceError(cause);
  }
}

/** What the call gives, or undefined when the processor does not know the id. */
export const findOrUndefined = async <T>(call: () => Promise<T>): Promise<T | undefined> =>
  await callBraintree(() =>
    call().catch((error: unknown) => {
      if (isBraintreeError(error, 'notFoundError')) return undefined;
      throw error;
    }),
  );

function toServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (isBraintreeError(cause, 'authenticationError') || isBraintreeError(cause, 'authorizationError')) {
    return new ServiceError('InternalError', 'The processor refuses the keys in the settings: a configuration error.', {
      cause,
    });
  }
  if (isBraintreeError(cause, 'notFoundError')) {
    return new ServiceError('InvalidPayload', 'The processor does not know this id.', { cause });
  }
  return new ServiceError('ConnectionFailed', 'The processor could not be reached.', { cause });
}

/** Whether the client threw this kind of error. */
export const isBraintreeError = (error: unknown, type: string): boolean =>
  error instanceof Error && 'type' in error && error.type === type;
