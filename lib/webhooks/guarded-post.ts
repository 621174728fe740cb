import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ServiceError } from '../shared/errors.ts';
import { type AddressPolicy, isPublicAddress } from './public-address.ts';
import { createDnsResolver, type ResolvedAddress, type ResolveHost, resolveWithSystem } from './resolve-host.ts';
import { getHost, parseWebhookUrl } from './webhook-url.ts';

interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What became of a POST. */
export type PostOutcome =
  | {
      readonly status: number;
      readonly retryAfter?: string;
      /** The start of the answer's body. */
      readonly bodyExcerpt: string;
    }
  | {
      /** `forbidden`: the URL leads where webhooks must not go. */
      readonly failure: 'timeout' | 'no-connection' | 'forbidden';
      readonly message: string;
    };

/** Posts to a server of which nothing is known; never throws. */
export type PostWebhook = (message: WebhookRequest) => Promise<PostOutcome>;

interface GuardedPostOptions extends AddressPolicy {
  readonly resolve?: ResolveHost;
  /** Of everything: the name, the connection, the answer. */
  readonly timeoutMs?: number;
}

const maxExcerptBytes = 4_096;
const bodyReadTimeoutMs = 2_000;

/**
 * A POST that can reach public servers only: every address of the name is checked and the connection goes to a checked
 * one, so that a name that resolves differently the second time gains nothing. Redirects are not followed.
 */
export function createGuardedPost({ resolve, timeoutMs = 15_000, ...rule }: GuardedPostOptions): PostWebhook {
  const resolveHost = resolve ?? (rule.allowsLoopback ? resolveWithSystem : createDnsResolver());
  return async (message) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const url = parseWebhookUrl(message.url, rule);
      const addresses = await raceAbort(resolveAddresses(getHost(url), resolveHost), signal);
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address, rule)))
        throw new ServiceError('InvalidPayload', 'The webhook URL has an address that is not public.');
      return await send(message, { url, addresses, signal });
    } catch (error) {
      if (error instanceof ServiceError) return { failure: 'forbidden', message: error.message };
      if (signal.aborted) return { failure: 'timeout', message: `There was no answer within ${timeoutMs / 1000} s.` };
      return { failure: 'no-connection', message: `There was no connection${describeConnectionError(error)}.` };
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
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return await new Promise((resolve, reject) => {
    let isAnswered = false;
    // A connection of its own: a shared one could lead to an address that was checked for another name.
    request(url, {
      method: 'POST',
      agent: false,
      signal,
      lookup: createPinnedLookup(addresses),
      headers: { ...headers, ...length },
    })
      .on('response', (result) => {
        isAnswered = true;
        const { statusCode = 0, headers: got } = result;
        const retryAfter = got['retry-after'];
        void readExcerpt(result).then((bodyExcerpt) =>
          resolve({ status: statusCode, ...(retryAfter && { retryAfter }), bodyExcerpt }),
        );
      })
      .on('upgrade', ({ statusCode = 0 }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, bodyExcerpt: '' });
      })
      // Once there is an answer, its status stands.
      .on('error', (cause) => void (isAnswered || reject(cause)))
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

/** The first bytes of a body, or what came in two seconds; the status stands even when the rest never comes. */
async function readExcerpt(result: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const tooLong = setTimeout(() => result.destroy(), bodyReadTimeoutMs);
  try {
    for await (const chunk of result as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxExcerptBytes) break;
    }
  } catch {
    // What came before the connection broke is shown.
  }
  clearTimeout(tooLong);
  result.destroy();
  return Buffer.concat(chunks).subarray(0, maxExcerptBytes).toString('utf8');
}

async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
}

/** What the name servers said, or did not. */
const dnsErrorPhrases: Readonly<Record<string, string>> = {
  ENOTFOUND: ': the name does not exist',
  ENODATA: ': the name has no address',
  ETIMEOUT: ': the name servers did not answer',
  ESERVFAIL: ': the name servers could not tell the address',
};

function describeConnectionError(error: unknown): string {
  const { code = 'no code' } = error as { readonly code?: string };
  return `${dnsErrorPhrases[code] ?? ''} (${code})`;
}
