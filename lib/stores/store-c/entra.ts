import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreResponse } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import type { MicrosoftSession } from './session.ts';

/** What a token of Microsoft Entra is for: calls of the services, or a customer's device that makes a StoreID key. */
const audiences = {
  services: 'https://onestore.microsoft.com',
  collections: 'https://onestore.microsoft.com/b2b/keys/create/collections',
  purchase: 'https://onestore.microsoft.com/b2b/keys/create/purchase',
} as const;
export type Audience = keyof typeof audiences;

/** Entra writes numbers as text in version 1 of its endpoint and as numbers in version 2. */
const Seconds = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number(), v.minValue(0));
const Token = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: Seconds });
const TokenErrorBody = v.object({ error: v.string() });

interface CachedToken {
  readonly token: string;
  readonly usableUntil: EpochMillis;
}

/** Tokens of all applications of this container. */
const tokenCache = new Map<string, CachedToken>();
const maxCachedTokens = 300;
const renewBeforeExpiryMs = 60_000;

/** The application's token for an audience, from the cache until a minute before it expires. */
export async function getAccessToken(session: MicrosoftSession, audience: Audience): Promise<string> {
  const key = cacheKey(session, audience);
  const cached = tokenCache.get(key);
  if (cached && cached.usableUntil > session.now()) return cached.token;
  const askedAt = session.now();
  const { access_token: token, expires_in: seconds } = await requestToken(session, audience);
  if (tokenCache.size >= maxCachedTokens) tokenCache.clear();
  tokenCache.set(key, { token, usableUntil: askedAt + seconds * 1000 - renewBeforeExpiryMs });
  return token;
}

/** Forgets the token that a service refused, so that the next call gets a new one. */
export const evictAccessToken = (session: MicrosoftSession, audience: Audience): void => {
  tokenCache.delete(cacheKey(session, audience));
};

async function requestToken(
  { settings, fetch }: MicrosoftSession,
  audience: Audience,
): Promise<v.InferOutput<typeof Token>> {
  const { tenantId, clientId, clientSecret } = settings;
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    resource: audiences[audience],
  };
  const response = await fetch(`https://login.microsoftonline.com/${tenantId}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
  });
  if (response.status === 200) return parseResponse(Token, response.text);
  throw toTokenError(response);
}

function toTokenError({ status, text }: StoreResponse) {
  if (status === 429 || status >= 500 || status < 400) return unavailableError(`Entra answers HTTP ${status}`);
  const { error } = parseResponse(TokenErrorBody, text);
  if (error === 'temporarily_unavailable') return unavailableError(`Entra answers ${error}`);
  return invalidSettingsError('check tenantId, clientId and clientSecret.', `Entra answers HTTP ${status}, ${error}`);
}

/** A secret that was changed must not live on in the cache, and none is kept in it. */
function cacheKey({ settings }: MicrosoftSession, audience: Audience): string {
  const { tenantId, clientId, clientSecret } = settings;
  return createHash('sha256')
    .update(JSON.stringify([tenantId, clientId, clientSecret, audience]))
    .digest('hex');
}
