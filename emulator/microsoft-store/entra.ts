import { createHash, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { secondMs, toEpochSeconds } from '../calendar.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { signToken, verifyToken } from './jwt.ts';
import type { Keys } from './keys.ts';
import type { ResponseContext } from './response-context.ts';

/** Audiences of access tokens: API calls, or the creation of a StoreID key on a device. */
const audiences = {
  services: 'https://onestore.microsoft.com',
  collections: 'https://onestore.microsoft.com/b2b/keys/create/collections',
  purchase: 'https://onestore.microsoft.com/b2b/keys/create/purchase',
} as const;
export type Audience = keyof typeof audiences;

const ttlSeconds = 3600;
const skewSeconds = 300;
const v2Suffix = '/.default';

/**
 * Handles the token endpoints of Entra for client credentials: v1.0 (`resource`) and v2.0 (`scope`).
 *
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export function handleTokenRequest({ keys, now }: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const [, tenantId, isV2] = /^\/([^/]+)\/oauth2\/(v2\.0\/)?token$/.exec(call.path) ?? [];
  if (tenantId === undefined || call.method !== 'POST') return textResponse(404, 'Not Found');
  const form = new URLSearchParams(call.body.toString('utf8'));
  if (tenantId !== keys.tenantId)
    return tokenErrorResponse(400, 'invalid_request', `AADSTS90002: Tenant '${tenantId}' not found.`);
  const problem = findCredentialsProblem(form, keys);
  if (problem !== undefined) return problem;
  const requested = isV2 ? omitSuffix(form.get('scope') ?? '') : (form.get('resource') ?? '');
  const audience = Object.values(audiences).find((candidate) => candidate === requested);
  if (audience === undefined)
    return tokenErrorResponse(400, isV2 ? 'invalid_scope' : 'invalid_resource', 'AADSTS500011: unknown.');
  return isV2 ? buildV2Response(keys, audience, now()) : buildV1Response(keys, audience, now());
}

function findCredentialsProblem(form: URLSearchParams, keys: Keys): HttpResponse | undefined {
  if (form.get('grant_type') !== 'client_credentials') {
    return tokenErrorResponse(400, 'unsupported_grant_type', 'AADSTS70003: The grant type is not supported.');
  }
  if (form.get('client_id') !== keys.clientId) {
    return tokenErrorResponse(
      400,
      'unauthorized_client',
      'AADSTS700016: The application was not found in the directory.',
    );
  }
  if (!isEqualSecret(form.get('client_secret') ?? '', keys.clientSecret)) {
    return tokenErrorResponse(401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.');
  }
  return undefined;
}

/** Version 1.0 returns numbers as strings. */
function buildV1Response(keys: Keys, resource: string, now: number): HttpResponse {
  const issuedAt = toEpochSeconds(now);
  return jsonResponse(200, {
    token_type: 'Bearer',
    expires_in: String(ttlSeconds - 1),
    ext_expires_in: String(ttlSeconds - 1),
    expires_on: String(issuedAt + ttlSeconds),
    not_before: String(issuedAt - skewSeconds),
    resource,
    access_token: createAccessToken(keys, resource, issuedAt),
  });
}

const buildV2Response = (keys: Keys, audience: string, now: number): HttpResponse =>
  jsonResponse(200, {
    token_type: 'Bearer',
    expires_in: ttlSeconds - 1,
    ext_expires_in: ttlSeconds - 1,
    access_token: createAccessToken(keys, audience, toEpochSeconds(now)),
  });

const createAccessToken = (keys: Keys, aud: string, issuedAt: number): string =>
  signToken(keys, {
    aud,
    iss: `https://sts.windows.net/${keys.tenantId}/`,
    iat: issuedAt,
    nbf: issuedAt - skewSeconds,
    exp: issuedAt + ttlSeconds,
    appid: keys.clientId,
    tid: keys.tenantId,
  });

const AccessToken = v.object({ aud: v.string(), exp: v.number(), appid: v.string() });

/** Returns the client id of an access token with this audience; undefined for an invalid or expired token. */
export function findClientId({ keys, now }: ResponseContext, token: string, audience: Audience): string | undefined {
  const claims = v.safeParse(AccessToken, verifyToken(keys, token));
  if (!claims.success || claims.output.aud !== audiences[audience]) return undefined;
  return claims.output.exp * secondMs > now() ? claims.output.appid : undefined;
}

/** Creates an error response of the token endpoints. */
export const tokenErrorResponse = (status: number, error: string, description: string): HttpResponse =>
  jsonResponse(status, { error, error_description: description });

const omitSuffix = (scope: string): string => (scope.endsWith(v2Suffix) ? scope.slice(0, -v2Suffix.length) : '');

const digest = (content: string): Buffer => createHash('sha256').update(content).digest();

const isEqualSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
