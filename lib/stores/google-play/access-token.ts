import { importPKCS8, SignJWT } from 'jose';
import * as v from 'valibot';
import type { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import type { StoreContext } from '../store-context.ts';
import { createTokenCache, type IssuedToken } from '../token-cache.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import type { ServiceAccount } from './settings.ts';

/**
 * Google's token endpoint. The `token_uri` of the key file is ignored: a manipulated file must not redirect the
 * assertion to another host.
 * @see https://developers.google.com/identity/protocols/oauth2/service-account
 */
const endpoint = 'https://oauth2.googleapis.com/token';

/** What an access token permits. Google issues one for each set of scopes. */
export const scopes = {
  play: 'https://www.googleapis.com/auth/androidpublisher',
  pubsub: 'https://www.googleapis.com/auth/pubsub',
} as const;
type Scope = (typeof scopes)[keyof typeof scopes];
const assertionTtlSeconds = 3600;

const TokenResponse = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: v.number() });

type TokenContext = Pick<StoreContext, 'fetch' | 'now'>;

const tokenCache = createTokenCache();

const toCredentials = ({ client_email, private_key }: ServiceAccount, scope: Scope): readonly string[] => [
  client_email,
  private_key,
  scope,
];

/** Removes the service account's cached token of the Play API after Google rejected it. */
export const evictAccessToken = (account: ServiceAccount): void =>
  tokenCache.evict(toCredentials(account, scopes.play));

/** Returns a bearer token of the service account, from the cache if possible. */
export async function getAccessToken(
  account: ServiceAccount,
  { fetch, now }: TokenContext,
  scope: Scope = scopes.play,
): Promise<string> {
  const requestedAt = now();
  return await tokenCache.getOrRequest(toCredentials(account, scope), requestedAt, async () => {
    const assertion = await signAssertion(account, scope, requestedAt);
    return await requestToken(assertion, fetch);
  });
}

async function requestToken(assertion: string, fetch: StoreContext['fetch']): Promise<IssuedToken> {
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
  const cause = `token endpoint: HTTP ${response.status}`;
  if (response.status === 429 || response.status >= 500) throw unavailableError(cause);
  if (response.status !== 200) throw toTokenError(cause, response.text);
  const { access_token: token, expires_in: expiresInSeconds } = parseResponse(TokenResponse, response.text);
  return { token, expiresInSeconds };
}

const TokenError = v.fallback(
  v.pipe(v.string(), v.parseJson(), v.object({ error: v.string(), error_description: v.optional(v.string(), '') })),
  { error: 'no JSON', error_description: '' },
);

/** Google returns `invalid_grant` both for a key that it does not have and for an assertion of the wrong time. */
function toTokenError(cause: string, text: string): ServiceError {
  const { error, error_description: description } = v.parse(TokenError, text);
  const isOfWrongTime = error === 'invalid_grant' && /reasonable timeframe|iat and exp/i.test(description);
  return invalidSettingsError(isOfWrongTime ? 'clock' : 'credentials', `${cause}, ${error}`);
}

async function signAssertion(
  { client_email, private_key, private_key_id }: ServiceAccount,
  scope: Scope,
  now: EpochMillis,
): Promise<string> {
  const issuedAt = Math.floor(now / secondMs);
  const key = await importPKCS8(private_key, 'RS256').catch(() => {
    throw invalidSettingsError('credentials', 'the private key is not valid');
  });
  return await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(private_key_id && { kid: private_key_id }) })
    .setIssuer(client_email)
    .setAudience(endpoint)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + assertionTtlSeconds)
    .sign(key);
}
