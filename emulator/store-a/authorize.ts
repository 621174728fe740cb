import { createPublicKey, verify } from 'node:crypto';
import * as v from 'valibot';
import { app } from './app.ts';
import type { Keys } from './keys.ts';

const Header = v.object({ alg: v.literal('ES256'), kid: v.string() });
const Claims = v.object({ iss: v.string(), aud: v.string(), bid: v.string(), iat: v.number(), exp: v.number() });

const maxTtlSeconds = 3600;
const skewSeconds = 60;

/** Whether the Authorization header is a token that the developer of the application signed for this hour. */
export function isAuthorized(authorization: string | undefined, keys: Keys, now: number): boolean {
  const [, head, body, signature] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization ?? '') ?? [];
  const header = v.safeParse(Header, decodePart(head));
  const claims = v.safeParse(Claims, decodePart(body));
  if (!header.success || !claims.success || signature === undefined) return false;
  return (
    header.output.kid === keys.keyId &&
    isForThisApplication(claims.output, keys) &&
    isCurrent(claims.output, now / 1000) &&
    isSignedBy(keys.apiPrivateKey, `${head}.${body}`, signature)
  );
}

const isForThisApplication = ({ iss, aud, bid }: v.InferOutput<typeof Claims>, { issuerId }: Keys): boolean =>
  iss === issuerId && aud === 'appstoreconnect-v1' && bid === app.bundleId;

const isCurrent = ({ iat, exp }: v.InferOutput<typeof Claims>, seconds: number): boolean =>
  iat <= seconds + skewSeconds && exp > seconds && exp - iat <= maxTtlSeconds;

function isSignedBy(privateKey: string, signed: string, signature: string): boolean {
  const key = createPublicKey(privateKey);
  return verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
}

function decodePart(part: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
