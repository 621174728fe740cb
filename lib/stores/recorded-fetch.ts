import type { ExternalCall } from '../events/event.ts';
import { ServiceError } from '../shared/errors.ts';
import type { StoreFetch, StoreRequest, StoreResponse } from './store.ts';

const defaultTimeoutMs = 6_000;
const maxResponseBytes = 6 * 1024 * 1024;

interface RecordedFetchOptions {
  readonly record: (call: ExternalCall) => void;
  readonly now: () => number;
  /** Where the stores are found instead of at their own hosts: the emulator's URL, or undefined in a deployment. */
  readonly storesUrl?: string;
}

/**
 * The `fetch` that adapters ask their stores with. It follows no redirect, ends with the deadline, reads at most 6 MB and
 * records every call. A store that gives no answer is `ConnectionFailed`; any HTTP answer is the adapter's to judge.
 */
export function createRecordedFetch({ record, now, storesUrl }: RecordedFetchOptions): StoreFetch {
  return async (url, init = {}) => {
    const target = new URL(url);
    const startedAt = now();
    const call = { type: target.host, url: redactUrl(target), method: init.method ?? 'GET' };
    try {
      const storeResponse = await sendRequest(
        storesUrl ? `${storesUrl}/${target.host}${target.pathname}${target.search}` : url,
        init,
      );
      const response = { status: storeResponse.status, size: storeResponse.text.length };
      record({ ...call, response, timing: { startedAt, endedAt: now() } });
      return storeResponse;
    } catch (cause) {
      const message = cause instanceof Error ? cause.name : 'failed';
      record({ ...call, error: { message }, timing: { startedAt, endedAt: now() } });
      throw new ServiceError('ConnectionFailed', 'The store could not be reached.', { cause });
    }
  };
}

async function sendRequest(
  url: string,
  { method = 'GET', headers = {}, body, timeoutMs = defaultTimeoutMs }: StoreRequest,
): Promise<StoreResponse> {
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, headers: response.headers, text: await readText(response) };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxResponseBytes) throw new Error('answer too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The address without query; of the path only words stay, for every other segment may be a token. */
const redactUrl = ({ origin, pathname }: URL): string =>
  origin +
  pathname
    .split('/')
    .map((segment) => (isPlainSegment(segment) ? segment : '…'))
    .join('/');

/** A plain word, a version (`v3`) or an app's package name. */
const isPlainSegment = (segment: string): boolean =>
  /^(?:[A-Za-z_]{0,24}|v\d{1,2}|[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]{0,30}){1,6})$/.test(segment);
