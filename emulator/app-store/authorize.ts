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

/**
 * Tokens of the app's developer are valid for at most one hour.
 * @see https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
 */
export function isAuthorized(authorization: string | undefined, keys: Keys, now: number): boolean {
  const [, token = ''] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
  const jwt = verifyJwt(token, keys.apiPrivateKey);
  const header = v.safeParse(Header, jwt?.header);
  const claims = v.safeParse(Claims, jwt?.payload);
  if (!header.success || !claims.success) return false;
  return header.output.kid === keys.keyId && isForApp(claims.output, keys) && isCurrent(claims.output, now / secondMs);
}

const isForApp = ({ iss, aud, bid }: Claims, { issuerId }: Keys): boolean =>
  iss === issuerId && aud === 'appstoreconnect-v1' && bid === app.bundleId;

const isCurrent = ({ iat, exp }: Claims, seconds: number): boolean =>
  iat <= seconds + skewSeconds && exp > seconds && exp - iat <= maxTtlSeconds;
