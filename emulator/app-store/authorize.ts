import * as v from 'valibot';
import { secondMs } from '../calendar.ts';
import { verifyJwt } from '../crypto/jwt.ts';
import { app } from './app.ts';
import type { Keys } from './keys.ts';

const Json = v.pipe(v.string(), v.parseJson());
const Header = v.pipe(Json, v.object({ alg: v.literal('ES256'), kid: v.string() }));
const Claims = v.pipe(
  Json,
  v.object({ iss: v.string(), aud: v.string(), bid: v.string(), iat: v.number(), exp: v.number() }),
);
type Claims = v.InferOutput<typeof Claims>;

const maxTtlSeconds = 3600;
const skewSeconds = 60;

/** The latest authentic token of each account: a client sends a token with many requests. */
const latestTokens = new WeakMap<Keys, { readonly token: string; readonly claims: Claims }>();

/**
 * Tokens of the app's developer are valid for at most one hour.
 * @see https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
 */
export function isAuthorized(authorization: string | undefined, keys: Keys, now: number): boolean {
  const [, token = ''] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
  const claims = verifyToken(token, keys);
  return claims !== undefined && isForApp(claims, keys) && isCurrent(claims, now / secondMs);
}

function verifyToken(token: string, keys: Keys): Claims | undefined {
  const latest = latestTokens.get(keys);
  if (latest?.token === token) return latest.claims;
  const jwt = verifyJwt(token, keys.apiPrivateKey);
  const header = v.safeParse(Header, jwt?.header);
  const claims = v.safeParse(Claims, jwt?.payload);
  if (!header.success || !claims.success || header.output.kid !== keys.keyId) return undefined;
  latestTokens.set(keys, { token, claims: claims.output });
  return claims.output;
}

const isForApp = ({ iss, aud, bid }: Claims, { issuerId }: Keys): boolean =>
  iss === issuerId && aud === 'appstoreconnect-v1' && bid === app.bundleId;

const isCurrent = ({ iat, exp }: Claims, seconds: number): boolean =>
  iat <= seconds + skewSeconds && exp > seconds && exp - iat <= maxTtlSeconds;
