import * as v from 'valibot';
import type { ServiceError } from '../../foundation/errors.ts';
import { createRejection, type RejectionKind } from '../settings.ts';
import type { StoreResponse } from '../store-context.ts';
import { createTokenCache, type IssuedToken } from '../token-cache.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import type { MicrosoftSession } from './session.ts';

/**
 * Audiences of the access tokens: calls of the services, and the service tickets with which a device creates StoreID
 * keys.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
const audiences = {
  services: 'https://onestore.microsoft.com',
  collections: 'https://onestore.microsoft.com/b2b/keys/create/collections',
  purchase: 'https://onestore.microsoft.com/b2b/keys/create/purchase',
} as const;
export type Audience = keyof typeof audiences;

/** Version 1 of the token endpoint writes numbers as text, version 2 as numbers. */
const Seconds = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number(), v.minValue(0));
const TokenResponse = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: Seconds });
const TokenErrorBody = v.object({ error: v.string(), error_description: v.optional(v.string(), '') });

const tokenCache = createTokenCache();

const toCredentials = ({ settings }: MicrosoftSession, audience: Audience): readonly string[] => [
  settings.tenantId,
  settings.clientId,
  settings.clientSecret,
  audience,
];

/** Returns the app's access token for an audience, from the cache if possible. */
export const getAccessToken = async (session: MicrosoftSession, audience: Audience): Promise<string> =>
  await tokenCache.getOrRequest(
    toCredentials(session, audience),
    session.now(),
    async () => await requestToken(session, audience),
  );

/** Removes the app's cached token after a service rejected it. */
export const evictAccessToken = (session: MicrosoftSession, audience: Audience): void =>
  tokenCache.evict(toCredentials(session, audience));

async function requestToken({ settings, fetch }: MicrosoftSession, audience: Audience): Promise<IssuedToken> {
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
  if (response.status !== 200) throw toTokenError(response);
  const { access_token: token, expires_in: expiresInSeconds } = parseResponse(TokenResponse, response.text);
  return { token, expiresInSeconds };
}

function toTokenError({ status, text }: StoreResponse): ServiceError {
  if (status === 429 || status >= 500 || status < 400) return unavailableError(`Entra: HTTP ${status}`);
  const { error, error_description: description } = parseResponse(TokenErrorBody, text);
  if (error === 'temporarily_unavailable') return unavailableError(`Entra: ${error}`);
  const [code = error] = /AADSTS\d+/.exec(description) ?? [];
  const [kind, reason] = rejections[code] ?? (['credentials', 'clientSecret is not valid'] as const);
  return invalidSettingsError(reason, createRejection(kind, `Entra: HTTP ${status}, ${code}`));
}

const unknownClient = ['app', 'tenantId or clientId is not found'] as const;

/**
 * Other codes mean a wrong secret.
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
 */
const rejections: Readonly<Record<string, readonly [RejectionKind, string]>> = {
  AADSTS7000222: ['expired', 'clientSecret has expired'],
  /** The directory does not contain the application. */
  AADSTS700016: unknownClient,
  /** The directory is not found. */
  AADSTS90002: unknownClient,
};
