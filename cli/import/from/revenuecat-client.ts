import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { parseJson } from '../../../lib/foundation/parse.ts';
import { secondMs } from '../../../lib/foundation/time.ts';
import { createRateLimiter } from '../rate-limiter.ts';

/** The address and the credentials of RevenueCat's API, version 2. */
export interface RevenueCatOptions {
  readonly key: string;
  /** Default: the API of RevenueCat. */
  readonly baseUrl?: string | undefined;
  /** Requests per second. */
  readonly rate?: number | undefined;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
}

/**
 * A client of RevenueCat's API, version 2. Its methods throw `Forbidden` for a rejected key and `ConnectionFailed` if
 * the retries are over.
 * @see https://www.revenuecat.com/docs/api-v2
 */
export interface RevenueCatClient {
  get<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S>>;
  /** Returns undefined if the object does not exist. */
  find<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S> | undefined>;
  /** Reads a list with all its pages. */
  list<S extends v.GenericSchema>(path: string, item: S): AsyncGenerator<readonly v.InferOutput<S>[]>;
  /**
   * Reads a list of a customer. A customer who does not exist, or was deleted since it was listed, has an empty list.
   */
  listOfCustomer<S extends v.GenericSchema>(path: string, item: S): AsyncGenerator<readonly v.InferOutput<S>[]>;
}

const defaultBaseUrl = 'https://api.revenuecat.com/v2';

/** The limit is 480 requests a minute for customer information. A part is left for the app. */
const defaultRate = 7;
const timeoutMs = 30 * secondMs;
const baseDelayMs = secondMs;
const maxDelayMs = 60 * secondMs;
const pageSize = 100;

const RateLimited = v.object({ backoff_ms: v.optional(v.nullable(v.number())) });

export function createRevenueCatClient(options: RevenueCatOptions): RevenueCatClient {
  const { key, baseUrl = defaultBaseUrl, rate = defaultRate, maxWaitMs, signal } = options;
  const limiter = createRateLimiter({ requests: rate });
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
  const send = async (path: string): Promise<{ readonly status: number; readonly text: string }> => {
    const end = performance.now() + maxWaitMs;
    for (let attempt = 0; ; attempt++) {
      await limiter.acquire('requests', signal);
      const response = await fetch(baseUrl + path, { headers, signal: AbortSignal.timeout(timeoutMs) }).catch(
        () => undefined,
      );
      const text = (await response?.text().catch(() => undefined)) ?? '';
      if (response && response.status !== 429 && response.status < 500) return { status: response.status, text };
      const delayMs = response?.status === 429 ? findBackoffMs(response, text) : undefined;
      const waitMs = delayMs ?? Math.min(maxDelayMs, baseDelayMs * 2 ** attempt);
      if (performance.now() + waitMs > end || signal.aborted)
        throw new ServiceError('ConnectionFailed', `RevenueCat responded with ${response?.status ?? 'no response'}.`);
      await sleep(waitMs, undefined, { signal });
    }
  };
  const find: RevenueCatClient['find'] = async (path, schema) => {
    const { status, text } = await send(path);
    if (status === 404) return undefined;
    if (status >= 400) throw new ServiceError('Forbidden', `RevenueCat rejected the request with status ${status}.`);
    return parseJson(schema, text, 'ConnectionFailed');
  };
  const get: RevenueCatClient['get'] = async (path, schema) => {
    const found = await find(path, schema);
    if (found === undefined) throw new ServiceError('Forbidden', `RevenueCat does not have ${path.split('?', 1)[0]}.`);
    return found;
  };
  return {
    find,
    get,
    list: (path, item) => readPages(path, item, get),
    listOfCustomer: (path, item) => readPages(path, item, find),
  };
}

async function* readPages<S extends v.GenericSchema>(
  path: string,
  item: S,
  load: RevenueCatClient['find'],
): AsyncGenerator<readonly v.InferOutput<S>[]> {
  const Page = v.object({ items: v.array(item), next_page: v.nullish(v.string()) });
  const separator = path.includes('?') ? '&' : '?';
  let next: string | undefined = `${path}${separator}limit=${pageSize}`;
  while (next !== undefined) {
    const page: v.InferOutput<typeof Page> | undefined = await load(next, Page);
    if (page) yield page.items;
    next = page?.next_page ? toPath(page.next_page) : undefined;
  }
}

/** `next_page` starts with the version of the API. */
const toPath = (nextPage: string): string => nextPage.replace(/^(?:https?:\/\/[^/]+)?\/v2/, '');

function findBackoffMs(response: Response, text: string): number | undefined {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), RateLimited), text);
  const backoffMs = result.success ? result.output.backoff_ms : undefined;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return backoffMs ?? (Number.isNaN(seconds) ? undefined : seconds * secondMs);
}
