import { type CryptoKey, importJWK } from 'jose';
import * as v from 'valibot';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import { parseResponse, unavailableError } from './api-errors.ts';

const url = 'https://www.googleapis.com/oauth2/v3/certs';

/** A notification is received within a second. */
const timeoutMs = 900;

/** How long Google's keys are kept when it does not say, and at most and at least when it does. */
const [defaultTtlMs, minTtlMs, maxTtlMs] = [300_000, 60_000, 86_400_000];

/** Anybody can name a key that does not exist: Google is asked about such no more often. */
const minRefetchIntervalMs = 60_000;

const Certs = v.object({ keys: v.array(v.looseObject({ kid: v.string(), kty: v.string() })) });
type Key = v.InferOutput<typeof Certs>['keys'][number];

interface CachedKeys {
  readonly keys: ReadonlyMap<string, Key>;
  readonly readAt: EpochMillis;
  readonly usableUntil: EpochMillis;
}

/** The keys of this container. */
let cachedKeys: CachedKeys | undefined;

/**
 * The public key with which Google signs under that id; undefined for one that it does not have. Throws `ConnectionFailed`
 * when Google's keys cannot be read now.
 */
export async function findGoogleKey(kid: string, { fetch, now }: Pick<StoreContext, 'fetch' | 'now'>) {
  const at = now();
  const keys = await getKeys(kid, { fetch, at });
  const key = keys.get(kid);
  return key && ((await importJWK(key, 'RS256')) as CryptoKey);
}

async function getKeys(
  kid: string,
  { fetch, at }: { readonly fetch: StoreContext['fetch']; readonly at: EpochMillis },
): Promise<CachedKeys['keys']> {
  // A clock that was set back must not find keys from its future.
  const isUsable = cachedKeys !== undefined && cachedKeys.readAt <= at && at < cachedKeys.usableUntil;
  if (cachedKeys && isUsable && (cachedKeys.keys.has(kid) || at - cachedKeys.readAt < minRefetchIntervalMs))
    return cachedKeys.keys;
  const response = await fetch(url, { timeoutMs });
  if (response.status !== 200) throw unavailableError(`the keys answer HTTP ${response.status}`);
  const { keys } = parseResponse(Certs, response.text);
  const rsa = keys.filter(({ kty }) => kty === 'RSA').map((key) => [key.kid, key] as const);
  cachedKeys = { keys: new Map(rsa), readAt: at, usableUntil: at + parseTtlMs(response.headers) };
  return cachedKeys.keys;
}

function parseTtlMs(headers: Headers): number {
  const seconds = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1];
  return seconds === undefined ? defaultTtlMs : Math.min(maxTtlMs, Math.max(minTtlMs, Number(seconds) * 1000));
}
