import { createHash, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { secondMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { signToken, verifyToken } from './jwt.ts';
import type { Keys } from './keys.ts';
import type { ResponseContext } from './response-context.ts';

/** What a token can be for: calls of the services, or the making of a key on a customer's device. */
const audiences = {
  services: 'https://onestore.microsoft.com',
  collections: 'https://onestore.microsoft.com/b2b/keys/create/collections',
  purchase: 'https://onestore.microsoft.com/b2b/keys/create/purchase',
} as const;
export type Audience = keyof typeof audiences;

const lifeSeconds = 3600;
const v2Suffix = '/.default';

/** Answers the token endpoints of Entra, v1.0 (`resource`) and v2.0 (`scope`), for client credentials. */
export function handleTokenRequest({ keys, now }: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const [, tenantId, isV2] = /^\/([^/]+)\/oauth2\/(v2\.0\/)?token$/.exec(call.path) ?? [];
  if (tenantId === undefined || call.method !== 'POST') return textResponse(404, 'Not Found');
  const form = new URLSearchParams(call.body.toString('utf8'));
  if (tenantId !== keys.tenantId)
    return tokenErrorResponse(400, 'invalid_request', `AADSTS90002: Tenant '${tenantId}' not found.`);
  const problem = credentialsProblem(form, keys);
  if (problem !== undefined) return problem;
  const wanted = isV2 ? withoutSuffix(form.get('scope') ?? '') : (form.get('resource') ?? '');
  const audience = Object.values(audiences).find((one) => one === wanted);
  if (audience === undefined)
    return tokenErrorResponse(400, isV2 ? 'invalid_scope' : 'invalid_resource', 'AADSTS500011: unknown.');
  return isV2 ? tokenV2(keys, audience, now()) : tokenV1(keys, audience, now());
}

function credentialsProblem(form: URLSearchParams, keys: Keys): HttpResponse | undefined {
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
  if (!isSame(form.get('client_secret') ?? '', keys.clientSecret)) {
    return tokenErrorResponse(401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.');
  }
  return undefined;
}

/** Version 1.0 gives its numbers as text. */
function tokenV1(keys: Keys, resource: string, now: number): HttpResponse {
  const issuedAt = Math.floor(now / 1000);
  return jsonResponse(200, {
    token_type: 'Bearer',
    expires_in: String(lifeSeconds - 1),
    ext_expires_in: String(lifeSeconds - 1),
    expires_on: String(issuedAt + lifeSeconds),
    not_before: String(issuedAt - 300),
    resource,
    access_token: accessToken(keys, resource, issuedAt),
  });
}

const tokenV2 = (keys: Keys, audience: string, now: number): HttpResponse =>
  jsonResponse(200, {
    token_type: 'Bearer',
    expires_in: lifeSeconds - 1,
    ext_expires_in: lifeSeconds - 1,
    access_token: accessToken(keys, audience, Math.floor(now / 1000)),
  });

const accessToken = (keys: Keys, aud: string, issuedAt: number): string =>
  signToken(keys, {
    aud,
    iss: `https://sts.windows.net/${keys.tenantId}/`,
    iat: issuedAt,
    nbf: issuedAt - 300,
    exp: issuedAt + lifeSeconds,
    appid: keys.clientId,
    tid: keys.tenantId,
  });

const AccessToken = v.object({ aud: v.string(), exp: v.number(), appid: v.string() });

/** The application that a token of that audience was given to; undefined for any other and for an old one. */
export function findClientId({ keys, now }: ResponseContext, token: string, audience: Audience): string | undefined {
  const claims = v.safeParse(AccessToken, verifyToken(keys, token));
  if (!claims.success || claims.output.aud !== audiences[audience]) return undefined;
  return claims.output.exp * secondMs > now() ? claims.output.appid : undefined;
}

const tokenErrorResponse = (status: number, error: string, description: string): HttpResponse =>
  jsonResponse(status, { error, error_description: description });

const withoutSuffix = (scope: string): string => (scope.endsWith(v2Suffix) ? scope.slice(0, -v2Suffix.length) : '');

const digest = (content: string): Buffer => createHash('sha256').update(content).digest();

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
