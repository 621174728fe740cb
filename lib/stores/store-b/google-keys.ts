import { type CryptoKey, importJWK } from 'jose';
import * as v from 'valibot';
import type { Millis } from '../../purchases/purchase.ts';
import type { Asking } from '../store.ts';
import { unavailable, understood } from './google-answer.ts';

const url = 'https://www.googleapis.com/oauth2/v3/certs';

/** A notification is received within a second. */
const timeoutMs = 900;

/** How long Google's keys are kept when it does not say, and at most and at least when it does. */
const [usualMs, shortestMs, longestMs] = [300_000, 60_000, 86_400_000];

/** Anybody can name a key that does not exist: Google is asked about such no more often. */
const againAfterMs = 60_000;

const Certs = v.object({ keys: v.array(v.looseObject({ kid: v.string(), kty: v.string() })) });
type Key = v.InferOutput<typeof Certs>['keys'][number];

interface Held {
  readonly keys: ReadonlyMap<string, Key>;
  readonly readAt: Millis;
  readonly usableUntil: Millis;
}

/** The keys of this container. */
let held: Held | undefined;

/**
 * The public key with which Google signs under that id; undefined for one that it does not have. Throws `ConnectionFailed`
 * when Google's keys cannot be read now.
 */
export async function googleKey(kid: string, { fetch, now }: Pick<Asking, 'fetch' | 'now'>) {
  const at = now();
  const keys = await currentKeys(kid, { fetch, at });
  const key = keys.get(kid);
  return key && ((await importJWK(key, 'RS256')) as CryptoKey);
}

async function currentKeys(
  kid: string,
  { fetch, at }: { readonly fetch: Asking['fetch']; readonly at: Millis },
): Promise<Held['keys']> {
  // A clock that was set back must not find keys from its future.
  const isUsable = held !== undefined && held.readAt <= at && at < held.usableUntil;
  if (held && isUsable && (held.keys.has(kid) || at - held.readAt < againAfterMs)) return held.keys;
  const answer = await fetch(url, { timeoutMs });
  if (answer.status !== 200) throw unavailable(`the keys answer HTTP ${answer.status}`);
  const { keys } = understood(Certs, answer.text);
  const rsa = keys.filter(({ kty }) => kty === 'RSA').map((key) => [key.kid, key] as const);
  held = { keys: new Map(rsa), readAt: at, usableUntil: at + lifeMs(answer.headers) };
  return held.keys;
}

function lifeMs(headers: Headers): Millis {
  const seconds = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1];
  return seconds === undefined ? usualMs : Math.min(longestMs, Math.max(shortestMs, Number(seconds) * 1000));
}
