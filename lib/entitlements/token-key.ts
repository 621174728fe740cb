import { generateKeyPairSync } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { type EpochMillis, minuteMs, secondMs } from '../foundation/time.ts';
import type { Entitlement, Entitlements } from './entitlements.ts';

/** A public key of entitlement tokens, as coordinates of P-256 in base64url. Times in epoch milliseconds. */
export const TokenKey = v.object({
  kid: v.string(),
  x: v.string(),
  y: v.string(),
  createdAt: v.number(),
  /** When the publication of a replaced key ends. */
  expiresAt: v.exactOptional(v.number()),
});
export type TokenKey = v.InferOutput<typeof TokenKey>;

/** The keys of an app: the one that signs, the next one, then replaced ones. The private parts are by key id. */
export interface TokenKeySet {
  readonly keys: readonly TokenKey[];
  readonly privateKeys: Readonly<Record<string, string>>;
}

/** Creates the key that signs and the next one. Verifiers fetch both, so they have the next one when it signs. */
export function createTokenKeys(now: EpochMillis): TokenKeySet {
  return addKey(addKey({ keys: [], privateKeys: {} }, now), now);
}

function addKey({ keys, privateKeys }: TokenKeySet, now: EpochMillis): TokenKeySet {
  const {
    x = '',
    y = '',
    d = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  }) as { readonly x?: string; readonly y?: string; readonly d?: string };
  const kid = x.slice(0, 12);
  return { keys: [...keys, { kid, x, y, createdAt: now }], privateKeys: { ...privateKeys, [kid]: d } };
}

/**
 * Signs with the next key from now on, and creates another next one. The replaced key stays published for `overlapMs`,
 * so that its tokens stay valid until then.
 */
export function rotateTokenKeys(
  set: TokenKeySet | undefined,
  { overlapMs, now }: { overlapMs: number; now: EpochMillis },
): TokenKeySet {
  const [current, next, ...replaced] = set?.keys ?? [];
  if (!set || !current || !next) return createTokenKeys(now);
  const added = addKey({ keys: [next], privateKeys: set.privateKeys }, now);
  const retired = [{ ...current, expiresAt: now + overlapMs }, ...replaced].filter((key) => isPublished(key, now));
  const keys = [...added.keys, ...retired];
  // A replaced key does not sign.
  const signing = added.keys.map(({ kid }) => [kid, added.privateKeys[kid] ?? ''] as const);
  return { keys, privateKeys: Object.fromEntries(signing) };
}

export const isPublished = ({ expiresAt = Number.POSITIVE_INFINITY }: TokenKey, now: EpochMillis): boolean =>
  expiresAt > now;

/**
 * Returns the public key as a JSON Web Key.
 * @see https://www.rfc-editor.org/rfc/rfc7517
 */
export const toPublicJwk = ({ kid, x, y }: TokenKey) =>
  ({ kty: 'EC', crv: 'P-256', x, y, kid, use: 'sig', alg: 'ES256' }) as const;

export const defaultTokenMinutes = 60;

interface TokenInput {
  /** URL of the service, which publishes the keys below `/.well-known/jwks.json`. */
  readonly issuer: string;
  readonly appName: string;
  readonly username: string;
  readonly entitlements: Entitlements;
  /** Balance of each credit, for an app that gives credits. */
  readonly credits?: Readonly<Record<string, number>> | undefined;
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
  const { issuer, appName, username, credits, nonce, now } = input;
  const active = listActive(input.entitlements);
  const expiresAt = computeExpiration(active, input);
  const token = await new SignJWT({
    env: isSandboxToken(input.entitlements) ? 'sandbox' : 'production',
    entitlements: Object.fromEntries(active.map(([name, entitlement]) => [name, toClaim(entitlement)])),
    ...(credits && { credits }),
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

const listActive = (entitlements: Entitlements) => [...entitlements].filter(([, { isActive }]) => isActive);

export function isSandboxToken(entitlements: Entitlements): boolean {
  const active = listActive(entitlements);
  return active.length > 0 && active.every(([, { isSandbox }]) => isSandbox);
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
