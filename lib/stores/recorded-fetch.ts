import type { ExternalCall } from '../events/event.ts';
import { unavailableError } from '../foundation/errors.ts';
import { createRequestHandler } from '../foundation/outgoing/aws-client.ts';
import type { Stopwatch } from '../foundation/stopwatch.ts';
import { type EpochMillis, secondMs } from '../foundation/time.ts';
import type { StoreFetch, StoreFetchOptions, StoreResponse } from './store-context.ts';

const defaultTimeoutMs = 6_000;
const maxResponseBytes = 6 * 1024 * 1024;

interface RecordedFetchOptions {
  /** Name of the called system at the start of an error message, such as `Google Play`. */
  readonly storeName: string;
  readonly record: (call: ExternalCall) => void;
  readonly now: () => EpochMillis;
  /** Measures the timeout of each call. */
  readonly stopwatch: Stopwatch;
  /** URL of the emulator, which then receives all calls. Undefined in a deployment. */
  readonly storesUrl?: string;
}

/**
 * Creates the `fetch` of the store adapters. It records each call, rejects redirects and enforces the timeout and the
 * size limit. Throws `ConnectionFailed` without a complete response.
 */
export function createRecordedFetch({
  storeName,
  record,
  now,
  stopwatch,
  storesUrl,
}: RecordedFetchOptions): StoreFetch {
  return async (url, init = {}) => {
    const target = new URL(url);
    const startedAt = now();
    const address = storesUrl ? new URL(`${storesUrl}/${target.host}${target.pathname}${target.search}`) : target;
    const call = { type: target.host, url: redactUrl(target), method: init.method ?? 'GET' };
    try {
      const storeResponse = await sendRequest(address, init, stopwatch);
      const response = { status: storeResponse.status, size: storeResponse.text.length };
      record({ ...call, response, timing: { startedAt, endedAt: now() } });
      return storeResponse;
    } catch (cause) {
      const { code, name } = cause as { readonly code?: unknown; readonly name: string };
      // The code of a timeout is a number.
      const message = typeof code === 'string' ? code : name;
      record({ ...call, error: { message }, timing: { startedAt, endedAt: now() } });
      throw unavailableError(storeName, cause);
    }
  };
}

const requestHandler = createRequestHandler({
  // A server can close a connection that was idle for longer, and the next request on it fails.
  idleMs: 4 * secondMs,
  maxResponseBytes,
});

const commonHeaders = { 'accept-encoding': 'identity', 'user-agent': 'claimcheck' };

async function sendRequest(
  { protocol, hostname, port, pathname, search }: URL,
  { method = 'GET', headers = {}, body = '', timeoutMs = defaultTimeoutMs }: StoreFetchOptions,
  stopwatch: Stopwatch,
): Promise<StoreResponse> {
  const target = { protocol, hostname, port: Number(port) || undefined, path: pathname + search };
  const abortSignal = stopwatch.abortAfter(timeoutMs);
  try {
    const { response } = await requestHandler.handle(
      { ...target, method, headers: { ...commonHeaders, ...headers }, body },
      { abortSignal },
    );
    const status = response.statusCode;
    if (status >= 300 && status < 400) throw new Error('Redirected.');
    return { status, headers: response.headers, text: Buffer.from(response.body).toString() };
  } catch (error) {
    throw abortSignal.aborted ? abortSignal.reason : error;
  }
}

/** Removes the query and masks path segments that can be purchase tokens or transaction ids. */
const redactUrl = ({ origin, pathname }: URL): string =>
  origin +
  pathname
    .split('/')
    .map((segment) => (isPlainSegment(segment) ? segment : '…'))
    .join('/');

/** A short alphabetic string, a version (`v3`) or a package name. */
const isPlainSegment = (segment: string): boolean =>
  /^(?:[A-Za-z_]{0,24}|v\d{1,2}|[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]{0,30}){1,6})$/.test(segment);
