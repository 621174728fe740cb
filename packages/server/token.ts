import { ClaimcheckError } from './error.ts';
import { type Connection, type ConnectionOptions, requireOptions, send, trimUrl } from './request.ts';
import type { TokenKey, TokenKeys } from './types.ts';
import { decodeBase64 } from './webhook.ts';

/** The content of a valid token. */
export interface VerifiedToken {
  readonly username: string;
  /** Whether an entitlement is active now. */
  hasEntitlement(name: string): boolean;
  /** Active entitlements by name. `until` is their end in seconds since 1970, or null. */
  readonly entitlements: Readonly<Record<string, { readonly until: number | null; readonly isSandbox?: boolean }>>;
  /** End of the token, in seconds since 1970. */
  readonly expiresAt: number;
  readonly nonce: string | undefined;
}

/** How long the service publishes a replaced key. */
const maxAgeMs = 24 * 3_600_000;
const refreshMs = 5 * 60_000;
const minRefreshMs = 10_000;
const keySets = new Map<string, { keys: readonly TokenKey[]; fetchedAt: number; triedAt: number }>();
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * Verifies an entitlement token (ES256) without a request for each token: the public keys are cached for five minutes,
 * or up to a day while the service is unavailable. An unknown key causes a request, at most one in ten seconds. Throws
 * `ClaimcheckError` with `InvalidToken`, or `Unreachable` if the first request for the keys fails.
 */
export async function verifyToken(token: string, options: ConnectionOptions): Promise<VerifiedToken> {
  requireOptions(options, ['url', 'appName']);
  const { appName, ...connection } = options;
  const [header = '', payload = '', signature = '', ...others] = token.split('.');
  const { alg, typ, kid } = parse(header);
  const jwk = alg === 'ES256' && typ === 'entitlements+jwt' && (await findKey(connection, appName, kid));
  if (!jwk || others.length > 0) throw invalidToken('The token is not of this service.');
  const key = await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, false, ['verify']);
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  if (!(await crypto.subtle.verify(algorithm, key, decodeBase64(signature), signed)))
    throw invalidToken('The signature is invalid.');
  const { iss, aud, sub, exp, nonce, entitlements } = parse(payload);
  if (iss !== trimUrl(connection.url)) throw invalidToken(`The token is of ${iss}.`);
  if (aud !== appName) throw invalidToken(`The token is for ${aud}.`);
  if (!(exp * 1_000 > Date.now())) throw invalidToken('The token has expired.');
  const hasEntitlement = (name: string): boolean => {
    const { until } = Object.hasOwn(entitlements, name) ? entitlements[name] : { until: 0 };
    return until === null || until * 1_000 > Date.now();
  };
  return { username: sub, hasEntitlement, entitlements, expiresAt: exp, nonce };
}

const invalidToken = (message: string) => new ClaimcheckError('InvalidToken', message);

// biome-ignore lint/suspicious/noExplicitAny: the signature proves the form of the content.
function parse(part: string): any {
  try {
    return Object(JSON.parse(new TextDecoder().decode(decodeBase64(part))));
  } catch {
    throw invalidToken('The token is not a JWT.');
  }
}

async function findKey(connection: Connection, appName: string, kid: unknown): Promise<TokenKey | undefined> {
  const path = `/.well-known/jwks.json?appName=${encodeURIComponent(appName)}`;
  const set = keySets.get(connection.url + path) ?? { keys: [], fetchedAt: 0, triedAt: 0 };
  keySets.set(connection.url + path, set);
  const find = () => set.keys.find((key) => key.kid === kid);
  const now = Date.now();
  if (now - set.triedAt < (find() ? refreshMs : minRefreshMs)) return find();
  try {
    set.keys = (await send<TokenKeys>({ ...connection, attempts: set.fetchedAt ? 1 : 3 }, path)).keys;
    set.fetchedAt = now;
  } catch (error) {
    if (now - set.fetchedAt > maxAgeMs) throw error;
  }
  set.triedAt = now;
  return find();
}
