import { type CryptoKey, errors, importJWK, type JWTPayload, jwtVerify } from 'jose';
import * as v from 'valibot';
import { createCache } from '../../foundation/cache.ts';
import { ServiceError } from '../../foundation/errors.ts';
import { dayMs, type EpochMillis, minuteMs, secondMs } from '../../foundation/time.ts';
import type { RawNotification } from '../store.ts';
import type { StoreContext, StoreResponse } from '../store-context.ts';
import { parseResponse, unavailableError } from './api-errors.ts';
import type { GooglePlaySettings } from './settings.ts';

const issuer = ['https://accounts.google.com', 'accounts.google.com'];
const clockToleranceSeconds = 60;

type VerificationContext = Pick<StoreContext, 'fetch' | 'now'>;

/**
 * Verifies that the app's Pub/Sub subscription sent a push, by its OIDC token. Any Google account can get a token for
 * our audience, so the email claim is decisive. Throws `Forbidden`, or `ConnectionFailed` if Google's keys are
 * unavailable.
 * @see https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */
export async function verifyPushToken(
  { headers }: RawNotification,
  { pushAudience, pushServiceAccount }: GooglePlaySettings,
  context: VerificationContext,
): Promise<void> {
  if (pushAudience === undefined || pushServiceAccount === undefined) {
    throw forbiddenError('pushAudience or pushServiceAccount is missing in the store_b settings.');
  }
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) {
    throw forbiddenError('The push token is missing: enable authentication in the Pub/Sub subscription.');
  }
  const { aud, email, email_verified: isVerified } = await verifyToken(token, context);
  const audiences = [aud ?? []].flat().map((audience) => audience.toLowerCase());
  if (!audiences.includes(pushAudience.toLowerCase())) throw forbiddenError('The push token has another audience.');
  const isAccount = typeof email === 'string' && email.toLowerCase() === pushServiceAccount.toLowerCase();
  if (!isAccount || isVerified !== true) throw forbiddenError('The push token belongs to another service account.');
}

async function verifyToken(token: string, context: VerificationContext): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, async ({ kid }) => await findKey(kid, context), {
      algorithms: ['RS256'],
      issuer,
      requiredClaims: ['exp', 'aud', 'email'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(context.now()),
    });
    return payload;
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw forbiddenError('The push token is invalid or has expired.', error);
  }
}

async function findKey(kid: string | undefined, context: VerificationContext): Promise<CryptoKey> {
  const key = kid === undefined ? undefined : await findGoogleKey(kid, context);
  if (!key) throw forbiddenError('The push token is not signed by Google.');
  return key;
}

const forbiddenError = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('Forbidden', message, { cause });

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
async function findGoogleKey(
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

function parseTtlMs({ 'cache-control': cacheControl = '' }: StoreResponse['headers']): number {
  const seconds = /max-age=(\d+)/.exec(cacheControl)?.[1];
  return seconds === undefined ? defaultTtlMs : Math.min(maxTtlMs, Math.max(minTtlMs, Number(seconds) * secondMs));
}
