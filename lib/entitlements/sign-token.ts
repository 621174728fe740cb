import { importJWK, SignJWT } from 'jose';
import { ServiceError } from '../foundation/errors.ts';
import { type EpochMillis, minuteMs, secondMs } from '../foundation/time.ts';
import type { Entitlement, Entitlements } from './entitlements.ts';
import type { TokenKeySet } from './token-key.ts';

export const defaultTokenMinutes = 60;

interface TokenInput {
  /** URL of the service, which publishes the keys below `/.well-known/jwks.json`. */
  readonly issuer: string;
  readonly appName: string;
  readonly username: string;
  readonly entitlements: Entitlements;
  readonly validMinutes?: number | undefined;
  readonly nonce?: string | undefined;
  readonly now: EpochMillis;
}

/**
 * Signs the active entitlements of a customer as a JWT (ES256). It expires after its validity, and never after the last
 * end of access. It cannot be revoked: a refund takes effect at its end.
 * @see https://www.rfc-editor.org/rfc/rfc7519
 */
export async function signEntitlementToken(
  input: TokenInput,
  { keys: [signingKey], privateKeys }: TokenKeySet,
): Promise<{ readonly token: string; readonly expiresAt: EpochMillis }> {
  const d = signingKey && privateKeys[signingKey.kid];
  if (!signingKey || d === undefined)
    throw new ServiceError('InternalError', 'The key of entitlement tokens is missing.');
  const { kid, x, y } = signingKey;
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x, y, d }, 'ES256');
  const { issuer, appName, username, nonce, now } = input;
  const active = [...input.entitlements].filter(([, { isActive }]) => isActive);
  const expiresAt = computeExpiration(active, input);
  const isSandbox = active.length > 0 && active.every(([, entitlement]) => entitlement.isSandbox);
  const token = await new SignJWT({
    env: isSandbox ? 'sandbox' : 'production',
    entitlements: Object.fromEntries(active.map(([name, entitlement]) => [name, toClaim(entitlement)])),
    ...(nonce !== undefined && { nonce }),
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'entitlements+jwt', kid })
    .setIssuer(issuer)
    .setAudience(appName)
    .setSubject(username)
    .setIssuedAt(Math.floor(now / secondMs))
    .setExpirationTime(Math.floor(expiresAt / secondMs))
    .sign(key);
  return { token, expiresAt };
}

/** Each entitlement has its own end, which a verifier checks too: it can be before the end of the token. */
const toClaim = ({ until, isSandbox }: Entitlement) => ({
  until: until === undefined ? null : Math.floor(until / secondMs),
  ...(isSandbox && { isSandbox }),
});

/** Returns whole seconds in milliseconds. */
function computeExpiration(
  active: readonly (readonly [string, Entitlement])[],
  { validMinutes = defaultTokenMinutes, now }: TokenInput,
): EpochMillis {
  const lastEnd = Math.max(...active.map(([, { until = Number.POSITIVE_INFINITY }]) => until));
  const end = now + validMinutes * minuteMs;
  return Math.floor((active.length > 0 ? Math.min(end, lastEnd) : end) / secondMs) * secondMs;
}
