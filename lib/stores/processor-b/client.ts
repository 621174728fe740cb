import type { BraintreeGateway } from 'braintree';
import { ServiceError } from '../../errors.ts';
import type { Asking, StoreFetch, StoreRequest } from '../store.ts';
import { inTime } from './deadline.ts';
import { settingsOf } from './settings.ts';
import { xmlObject } from './xml.ts';

/** What the client's own http object offers, which its types leave out. */
interface ClientHttp {
  _headers: () => Readonly<Record<string, string>>;
  checkHttpStatus: (status: number) => Error | null;
  httpRequest: (method: NonNullable<StoreRequest['method']>, path: string, body: unknown) => Promise<unknown>;
}

/**
 * The official client of the merchant in the settings, calling through the fetch that records and ends in time: all of its
 * calls have one deadline.
 */
export async function gatewayOf({ settings, fetch }: Pick<Asking, 'settings' | 'fetch'>): Promise<BraintreeGateway> {
  const { merchantId, publicKey, privateKey, environment } = settingsOf(settings);
  const { default: braintree } = await import('braintree');
  const { Production, Sandbox } = braintree.Environment;
  const gateway = new braintree.BraintreeGateway({
    environment: environment === 'production' ? Production : Sandbox,
    merchantId,
    publicKey,
    privateKey,
  });
  const host = environment === 'production' ? 'api.braintreegateway.com' : 'api.sandbox.braintreegateway.com';
  const { http } = gateway as unknown as { readonly http: ClientHttp };
  http.httpRequest = requestThrough(inTime(fetch), `https://${host}`, http);
  return gateway;
}

const requestThrough = (
  fetch: StoreFetch,
  host: string,
  { _headers, checkHttpStatus }: ClientHttp,
): ClientHttp['httpRequest'] =>
  async function (this: ClientHttp, method, path, body) {
    const answer = await fetch(host + path, {
      method,
      headers: { ..._headers.call(this), 'Accept-Encoding': 'identity' },
      ...(body ? { body: JSON.stringify(underscored(body)) } : {}),
    });
    const error = checkHttpStatus.call(this, answer.status);
    if (error) throw error;
    return answer.text.trim() === '' ? {} : xmlObject(answer.text);
  };

function underscored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(underscored);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [underscore(name), underscored(inner)]));
}

const underscore = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();

/** What the call gives; the client's errors become this service's. */
export async function answered<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw translated(cause);
  }
}

/** What the call gives, or undefined when the processor does not know the id. */
export const found = async <T>(call: () => Promise<T>): Promise<T | undefined> =>
  await answered(() =>
    call().catch((thrown: unknown) => {
      if (isOfType(thrown, 'notFoundError')) return undefined;
      throw thrown;
    }),
  );

function translated(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (isOfType(cause, 'authenticationError') || isOfType(cause, 'authorizationError')) {
    return new ServiceError('InternalError', 'The processor refuses the keys in the settings: a configuration error.', {
      cause,
    });
  }
  if (isOfType(cause, 'notFoundError')) {
    return new ServiceError('InvalidPayload', 'The processor does not know this id.', { cause });
  }
  return new ServiceError('ConnectionFailed', 'The processor could not be reached.', { cause });
}

/** Whether the client threw this kind of error. */
export const isOfType = (thrown: unknown, type: string): boolean =>
  thrown instanceof Error && 'type' in thrown && thrown.type === type;
