import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ServiceError } from '../errors.ts';
import { secondMs } from '../time.ts';
import type { PostOutcome, PostWebhook, WebhookRequest } from './post-webhook.ts';
import { createDnsResolver, type ResolvedAddress, type ResolveHost, resolveWithSystem } from './resolve-host.ts';
import { type AddressPolicy, getHost, isPublicAddress, parseWebhookUrl } from './webhook-url.ts';

export interface GuardedPostOptions extends AddressPolicy {
  readonly resolve?: ResolveHost;
  /** Total time for name resolution, connection and response headers. */
  readonly timeoutMs?: number;
}

const maxExcerptBytes = 4_096;
const bodyReadTimeoutMs = 2 * secondMs;

/**
 * Creates a POST that reaches public servers only (SSRF protection). Checks all addresses of the host and connects to a
 * checked address, so DNS rebinding is useless. Does not follow redirects.
 */
export function createGuardedPost({ resolve, timeoutMs = 15 * secondMs, ...policy }: GuardedPostOptions): PostWebhook {
  const resolveHost = resolve ?? (policy.allowsLoopback ? resolveWithSystem : createDnsResolver());
  return async (request) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const url = parseWebhookUrl(request.url, policy);
      const addresses = await raceAbort(resolveAddresses(getHost(url), resolveHost), signal);
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address, policy)))
        throw new ServiceError('InvalidPayload', 'The webhook URL has an address that is not public.');
      return await send(request, { url, addresses, signal });
    } catch (error) {
      if (error instanceof ServiceError) return { failure: 'forbidden', message: error.message };
      if (signal.aborted)
        return { failure: 'timeout', message: `The server did not respond within ${timeoutMs / secondMs} s.` };
      return { failure: 'no-connection', message: `The connection failed${describeConnectionError(error)}.` };
    }
  };
}

async function resolveAddresses(host: string, resolve: ResolveHost): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host);
  return family ? [{ address: host, family }] : await resolve(host);
}

interface Target {
  readonly url: URL;
  readonly addresses: readonly ResolvedAddress[];
  readonly signal: AbortSignal;
}

async function send({ headers, body }: WebhookRequest, { url, addresses, signal }: Target): Promise<PostOutcome> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const contentLength = { 'content-length': String(Buffer.byteLength(body)) };
  return await new Promise((resolve, reject) => {
    let hasResponse = false;
    request(url, {
      method: 'POST',
      // No connection pool: a pooled connection may lead to an address that was checked for another host.
      agent: false,
      signal,
      lookup: createPinnedLookup(addresses),
      headers: { ...headers, ...contentLength },
    })
      .on('response', (response) => {
        hasResponse = true;
        const { statusCode = 0, headers: responseHeaders } = response;
        const retryAfter = responseHeaders['retry-after'];
        void readExcerpt(response).then((bodyExcerpt) =>
          resolve({ status: statusCode, ...(retryAfter && { retryAfter }), bodyExcerpt }),
        );
      })
      .on('upgrade', ({ statusCode = 0 }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, bodyExcerpt: '' });
      })
      // An error after the response headers does not change the status.
      .on('error', (error) => void (hasResponse || reject(error)))
      .end(body);
  });
}

const createPinnedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };

/**
 * Reads the start of the body for at most two seconds. Never throws: the status is valid even if the body never ends.
 */
async function readExcerpt(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => response.destroy(), bodyReadTimeoutMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxExcerptBytes) break;
    }
  } catch {
    // The connection was closed early. The excerpt contains the received bytes.
  }
  clearTimeout(timer);
  response.destroy();
  return Buffer.concat(chunks).subarray(0, maxExcerptBytes).toString('utf8');
}

async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return await Promise.race([
    promise,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
}

/** @see https://nodejs.org/api/dns.html#error-codes */
const dnsErrorDescriptions: Readonly<Record<string, string>> = {
  ENOTFOUND: ': the domain name does not exist',
  ENODATA: ': the domain name has no address',
  ETIMEOUT: ': the name servers did not respond',
  ESERVFAIL: ': the name servers reported a failure',
};

function describeConnectionError(error: unknown): string {
  const { code = 'no code' } = error as { readonly code?: string };
  return `${dnsErrorDescriptions[code] ?? ''} (${code})`;
}
