import { createHash } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import * as v from 'valibot';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreFetch } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import type { ServiceAccount } from './settings.ts';

/** The `token_uri` of a key file is ignored: a key that says otherwise must not make us sign for, or call, another host. */
const endpoint = 'https://oauth2.googleapis.com/token';
const scope = 'https://www.googleapis.com/auth/androidpublisher';

const Token = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: v.number() });

/** Tokens of all applications of this container. */
const tokenCache = new Map<string, { readonly token: string; readonly usableUntil: EpochMillis }>();
const maxCachedTokens = 300;
const renewBeforeExpiryMs = 60_000;

interface TokenContext {
  readonly fetch: StoreFetch;
  readonly now: () => EpochMillis;
}

const toCacheKey = ({ client_email, private_key }: ServiceAccount): string =>
  createHash('sha256').update(`${client_email}\n${private_key}`).digest('hex');

/** Drops the token that Google does not accept any more. */
export const evictAccessToken = (account: ServiceAccount): void => {
  tokenCache.delete(toCacheKey(account));
};

/** The service account's bearer token, from the cache until a minute before it expires. */
export async function getAccessToken(account: ServiceAccount, { fetch, now }: TokenContext): Promise<string> {
  const key = toCacheKey(account);
  const cached = tokenCache.get(key);
  const askedAt = now();
  // A clock that was set back must not find a token from its future.
  if (cached && cached.usableUntil > askedAt && cached.usableUntil - askedAt < 3_600_000) return cached.token;
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await signAssertion(account, askedAt),
  });
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  });
  if (response.status === 429 || response.status >= 500)
    throw unavailableError(`the token endpoint answers ${response.status}`);
  if (response.status !== 200) throw invalidSettingsError(`the token endpoint answers ${response.status}`);
  const { access_token: token, expires_in: seconds } = parseResponse(Token, response.text);
  if (tokenCache.size >= maxCachedTokens) tokenCache.clear();
  tokenCache.set(key, { token, usableUntil: askedAt + seconds * 1000 - renewBeforeExpiryMs });
  return token;
}

async function signAssertion(
  { client_email, private_key, private_key_id }: ServiceAccount,
  now: EpochMillis,
): Promise<string> {
  const issuedAt = Math.floor(now / 1000);
  const key = await importPKCS8(private_key, 'RS256').catch(() => {
    throw invalidSettingsError('the private key cannot be read');
  });
  return await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(private_key_id && { kid: private_key_id }) })
    .setIssuer(client_email)
    .setAudience(endpoint)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 3600)
    .sign(key);
}
