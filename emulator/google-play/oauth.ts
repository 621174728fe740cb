import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { secondMs, toEpochSeconds } from '../calendar.ts';
import { verifyJwt } from '../crypto/jwt.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { apiError } from './api-error.ts';
import { clientEmail, type Keys, tokenUri } from './keys.ts';
import type { ResponseContext } from './response-context.ts';

/** Scopes of the APIs that the store serves. */
export const scopes = {
  play: 'https://www.googleapis.com/auth/androidpublisher',
  pubsub: 'https://www.googleapis.com/auth/pubsub',
} as const;
type Scope = (typeof scopes)[keyof typeof scopes];
const knownScopes: readonly string[] = Object.values(scopes);
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ttlSeconds = 3600;
const skewSeconds = 300;

const Json = v.pipe(v.string(), v.parseJson());
const Header = v.pipe(Json, v.object({ alg: v.literal('RS256'), kid: v.exactOptional(v.string()) }));
const Claims = v.pipe(
  Json,
  v.object({ iss: v.string(), scope: v.string(), aud: v.string(), iat: v.number(), exp: v.number() }),
);
type Claims = v.InferOutput<typeof Claims>;
const AccessToken = v.pipe(Json, v.object({ exp: v.number(), scope: v.string() }));

/**
 * `POST /token`: exchanges an assertion of the service account for an access token with a TTL of one hour.
 *
 * @see https://developers.google.com/identity/protocols/oauth2/service-account
 */
export function handleTokenRequest({ keys, now }: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const form = new URLSearchParams(call.body.toString('utf8'));
  if (form.get('grant_type') !== grantType) return oauthErrorResponse('unsupported_grant_type', 'Invalid grant_type');
  const claims = verifyAssertion(keys, form.get('assertion') ?? '');
  if (claims === undefined) return oauthErrorResponse('invalid_grant', 'Invalid JWT Signature.');
  const problem = findClaimsProblem(claims, toEpochSeconds(now()));
  if (problem !== undefined) return problem;
  const exp = toEpochSeconds(now()) + ttlSeconds;
  return jsonResponse(200, {
    access_token: createAccessToken(keys, { exp, scope: claims.scope }),
    expires_in: ttlSeconds,
    token_type: 'Bearer',
  });
}

/** Returns the claims of an assertion of the service account; undefined for an invalid assertion. */
function verifyAssertion(keys: Keys, assertion: string): Claims | undefined {
  const jwt = verifyJwt(assertion, keys.accountPrivateKey);
  const header = v.safeParse(Header, jwt?.header);
  const claims = v.safeParse(Claims, jwt?.payload);
  if (!header.success || !claims.success) return undefined;
  return (header.output.kid ?? keys.accountKeyId) === keys.accountKeyId ? claims.output : undefined;
}

function findClaimsProblem({ iss, aud, iat, exp, ...claims }: Claims, seconds: number): HttpResponse | undefined {
  if (iss !== clientEmail) return oauthErrorResponse('invalid_grant', 'Invalid grant: account not found');
  if (aud !== tokenUri) return oauthErrorResponse('invalid_grant', 'Invalid JWT: Failed audience check.');
  if (!claims.scope.split(' ').every((scope) => knownScopes.includes(scope))) {
    return oauthErrorResponse('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
  }
  const isCurrent = iat <= seconds + skewSeconds && exp >= seconds - skewSeconds;
  if (isCurrent && exp > iat && exp - iat <= ttlSeconds) return undefined;
  return oauthErrorResponse(
    'invalid_grant',
    'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
  );
}

/** Throws an API error unless the call has an access token of the scope that is valid and not expired. */
export function authorize(
  { keys, now }: Pick<ResponseContext, 'keys' | 'now'>,
  { headers }: StoreHttpRequest,
  scope: Scope = scopes.play,
): void {
  const [, payload = '', signature = ''] = /^Bearer ya29\.([\w-]+)\.([\w-]+)$/i.exec(headers.authorization ?? '') ?? [];
  const expected = Buffer.from(signToken(keys, payload));
  const isAuthentic = expected.length === signature.length && timingSafeEqual(expected, Buffer.from(signature));
  const token = v.safeParse(AccessToken, Buffer.from(payload, 'base64url').toString('utf8'));
  if (isAuthentic && token.success && token.output.exp * secondMs > now()) {
    if (token.output.scope.split(' ').includes(scope)) return;
    throw apiError(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.');
  }
  throw apiError(
    401,
    'authError',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
  );
}

function createAccessToken(keys: Keys, claims: { readonly exp: number; readonly scope: string }): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `ya29.${payload}.${signToken(keys, payload)}`;
}

const signToken = ({ tokenSecret }: Keys, payload: string): string =>
  createHmac('sha256', tokenSecret).update(payload).digest('base64url');

const oauthErrorResponse = (error: string, description: string): HttpResponse =>
  jsonResponse(400, { error, error_description: description });
