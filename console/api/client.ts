import type * as v from 'valibot';
import type { Contract, ContractResponse } from '../../lib/api/contract.ts';
import { getSession, rejectSession } from '../session.ts';
import type { Credentials } from '../session-storage.ts';
import { apiError, isApiError } from './api-error.ts';

/** Method and path of a contract. The type parameter has the types of its request and response. */
export interface Endpoint<C extends Contract> {
  readonly method: C['method'];
  readonly path: C['path'];
  /** Only in the type. */
  readonly contract?: C;
}

/**
 * Declares an endpoint that the console calls. The types come from the contract, which is imported as a type: method
 * and path that differ from it do not compile.
 */
export const defineEndpoint = <C extends Contract>(method: C['method'], path: C['path']): Endpoint<C> => ({
  method,
  path,
});

type Input<S> = S extends v.GenericSchema ? v.InferInput<S> : never;
type Scalar = string | number | undefined;

/** Parameters, query and body of a contract. Values of the query are converted to text; `undefined` is omitted. */
export type EndpointRequest<C extends Contract> = (C['params'] extends v.GenericSchema
  ? { readonly params: Readonly<Record<keyof Input<C['params']>, string>> }
  : { readonly params?: undefined }) &
  (C['query'] extends v.GenericSchema
    ? { readonly query?: { readonly [Name in keyof Input<C['query']>]?: Scalar } }
    : { readonly query?: undefined }) &
  (C['body'] extends v.GenericSchema ? { readonly body: Input<C['body']> } : { readonly body?: undefined });

export interface CallOptions {
  /** Aborts the request, for example if the user leaves the page. */
  readonly signal?: AbortSignal;
  /** Default: the credentials of the session. */
  readonly credentials?: Credentials;
}

/** URL of the service: the folder of `/console`, below the stage or the base path of a domain. */
export const baseUrl = new URL(location.pathname.replace(/\/console\/?$/, '/'), location.origin);

const timeoutMs = 35_000;
const maxRetries = 2;
const maxRetryDelayMs = 10_000;

/**
 * Calls an endpoint. Repeats a GET twice if the service is unavailable or limits the rate. Throws an `ApiError`; an
 * `AbortError` if `signal` aborts. A rejected key ends the session.
 */
export async function callApi<C extends Contract>(
  endpoint: Endpoint<C>,
  request: EndpointRequest<C>,
  { signal, credentials = getSession() }: CallOptions = {},
): Promise<ContractResponse<C>> {
  if (!credentials) throw apiError({ status: 401, code: 'Forbidden', message: 'The session has ended.' });
  if (endpoint.method !== 'GET' && getSession()?.level === 'viewer')
    throw apiError({ status: 403, code: 'Forbidden', message: 'A viewer key can only read.' });
  const { body } = request;
  const init = {
    method: endpoint.method,
    headers: buildHeaders(credentials, body !== undefined),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    credentials: 'omit',
    cache: 'no-store',
  } satisfies RequestInit;
  const url = buildUrl(endpoint.path, request);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetchJson<ContractResponse<C>>(url, init, signal);
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (error.status === 401 && credentials === getSession()) rejectSession();
      if (endpoint.method !== 'GET' || !error.isRetryable || attempt >= maxRetries) throw error;
      await waitBeforeRetry(error.retryAfterSeconds, attempt, signal);
    }
  }
}

/** Builds the headers of a request. Bearer, because browsers open a dialog for rejected Basic credentials. */
export const buildHeaders = ({ appName, key }: Credentials, hasBody: boolean): Readonly<Record<string, string>> => ({
  accept: 'application/json',
  authorization: `Bearer ${encodeBase64(`${appName}:${key}`)}`,
  ...(hasBody && { 'content-type': 'application/json' }),
});

/** Inserts the parameters into the path and appends the query. */
export function buildUrl(
  path: string,
  { params = {}, query = {} }: { readonly params?: object | undefined; readonly query?: object | undefined },
): URL {
  const values = params as Readonly<Record<string, string>>;
  const encoded = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const url = new URL(`.${encoded}`, baseUrl);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  return url;
}

async function fetchJson<T>(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const handleFailure = (error: unknown): never => {
    signal?.throwIfAborted();
    throw toUnreachable(error);
  };
  const response = await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }).catch(
    handleFailure,
  );
  // The connection can also end within the response.
  const body = parseJson(await response.text().catch(handleFailure));
  if (!response.ok || body === undefined) throw toApiError(response, body);
  return body as T;
}

/** The error of a request without a whole response. */
export const toUnreachable = (error: unknown) => apiError({ status: 0, code: 'Unreachable', message: String(error) });

/** Returns undefined for text that is not JSON, such as the page of a proxy. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toApiError(response: Response, body: unknown) {
  const { code, message } = (body ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return apiError({
    status: response.ok ? 502 : response.status,
    code: typeof code === 'string' ? code : 'Unknown',
    message: typeof message === 'string' ? message : `The service responded with HTTP ${response.status}.`,
    ...(Number.isFinite(retryAfter) && { retryAfterSeconds: retryAfter }),
  });
}

async function waitBeforeRetry(
  retryAfterSeconds: number | undefined,
  attempt: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const backoffMs = 300 * 2 ** attempt * (1 + Math.random());
  const delayMs = Math.min(retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1_000, maxRetryDelayMs);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, delayMs);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Base64 of the UTF-8 bytes. */
const encodeBase64 = (text: string): string => btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
