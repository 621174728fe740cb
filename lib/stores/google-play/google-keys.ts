import { type CryptoKey, importJWK } from 'jose';
import * as v from 'valibot';
import { createCache } from '../../foundation/cache.ts';
import { dayMs, type EpochMillis, minuteMs, secondMs } from '../../foundation/time.ts';
import type { StoreContext } from '../store-context.ts';
import { parseResponse, unavailableError } from './api-errors.ts';

/** @see https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions */
const url = 'https://www.googleapis.com/oauth2/v3/certs';

/** A notification endpoint responds within a second. */
const timeoutMs = 900;

const defaultTtlMs = 5 * minuteMs;
const minTtlMs = minuteMs;
const maxTtlMs = dayMs;

/** A push may name a key that does not exist. This interval keeps an attacker from causing a request for each push. */
const minRefetchIntervalMs = minuteMs;

const Certs = v.object({ keys: v.array(v.looseObject({ kid: v.string(), kty: v.string() })) });
type Key = v.InferOutput<typeof Certs>['keys'][number];

interface CachedKeys {
  readonly keysById: ReadonlyMap<string, Key>;
  readonly fetchedAt: EpochMillis;
}

const keyCache = createCache<CachedKeys>(1);

/**
 * Returns Google's public key with this id; undefined for an unknown id. Throws `ConnectionFailed` if Google's keys are
 * unavailable.
 */
export async function findGoogleKey(
  kid: string,
  { fetch, now }: Pick<StoreContext, 'fetch' | 'now'>,
): Promise<CryptoKey | undefined> {
  const keysById = await getKeys(kid, fetch, now());
  const key = keysById.get(kid);
  return key && ((await importJWK(key, 'RS256')) as CryptoKey);
}

async function getKeys(kid: string, fetch: StoreContext['fetch'], now: EpochMillis): Promise<CachedKeys['keysById']> {
  const cached = keyCache.get(url, now);
  if (cached && (cached.keysById.has(kid) || now - cached.fetchedAt < minRefetchIntervalMs)) return cached.keysById;
  const response = await fetch(url, { timeoutMs });
  if (response.status !== 200) throw unavailableError(`Google's keys: HTTP ${response.status}`);
  const { keys } = parseResponse(Certs, response.text);
  const keysById = new Map(keys.filter(({ kty }) => kty === 'RSA').map((key) => [key.kid, key]));
  keyCache.set(url, { keysById, fetchedAt: now }, { now, usableUntil: now + parseTtlMs(response.headers) });
  return keysById;
}

function parseTtlMs(headers: Headers): number {
  const seconds = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1];
  return seconds === undefined ? defaultTtlMs : Math.min(maxTtlMs, Math.max(minTtlMs, Number(seconds) * secondMs));
}
