import { once } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { gunzipSync } from 'node:zlib';
import type { ExternalCall } from '../events/event.ts';
import { unavailableError } from '../foundation/errors.ts';
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
    const call = { type: target.host, url: redactUrl(target), method: init.method ?? 'GET' };
    try {
      const storeResponse = await sendRequest(
        storesUrl ? `${storesUrl}/${target.host}${target.pathname}${target.search}` : url,
        init,
        stopwatch,
      );
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

/** A server can close a connection that was idle for longer, and the next request on it fails. */
const maxIdleMs = 4 * secondMs;
const httpAgent = new HttpAgent({ keepAlive: true, timeout: maxIdleMs });
const httpsAgent = new HttpsAgent({ keepAlive: true, timeout: maxIdleMs });

const commonHeaders = { accept: '*/*', 'accept-encoding': 'gzip', 'user-agent': 'claimcheck' };

/** Without the global `fetch`, whose first call takes twice the processor time, and each further call, too. */
async function sendRequest(
  url: string,
  { method = 'GET', headers = {}, body, timeoutMs = defaultTimeoutMs }: StoreFetchOptions,
  stopwatch: Stopwatch,
): Promise<StoreResponse> {
  const signal = stopwatch.abortAfter(timeoutMs);
  const isHttps = url.startsWith('https:');
  try {
    const request = (isHttps ? requestHttps : requestHttp)(url, {
      agent: isHttps ? httpsAgent : httpAgent,
      method,
      headers: { ...commonHeaders, ...headers },
      signal,
    });
    // An error after the start of the response is also one of its body.
    request.on('error', () => {}).end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { statusCode: status = 0 } = response;
    const responseHeaders = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    const content = await readBody(response);
    if (redirectStatuses.has(status)) throw new Error('The response is a redirect.');
    return { status, headers: Object.fromEntries(responseHeaders), text: content.toString('utf8') };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxResponseBytes) throw new Error('The response is too large.');
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  return response.headers['content-encoding'] === 'gzip'
    ? gunzipSync(body, { maxOutputLength: maxResponseBytes })
    : body;
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
