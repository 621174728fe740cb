import { generateKeyPairSync } from 'node:crypto';
import * as v from 'valibot';
import type { EpochMillis } from '../foundation/time.ts';

/** A public key of entitlement tokens, as coordinates of P-256 in base64url. Times in epoch milliseconds. */
export const TokenKey = v.object({
  kid: v.string(),
  x: v.string(),
  y: v.string(),
  createdAt: v.number(),
  /** When a replaced key is no longer published. */
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
