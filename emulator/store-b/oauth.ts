import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import * as v from 'valibot';
import { secondMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { apiError } from './api-error.ts';
import { clientEmail, type Keys, tokenUri } from './keys.ts';
import type { ResponseContext } from './response-context.ts';

const scope = 'https://www.googleapis.com/auth/androidpublisher';
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const lifeSeconds = 3600;
const skewSeconds = 300;

const Json = v.pipe(v.string(), v.parseJson());
const Header = v.pipe(Json, v.object({ alg: v.literal('RS256'), kid: v.exactOptional(v.string()) }));
const Claims = v.pipe(
  Json,
  v.object({ iss: v.string(), scope: v.string(), aud: v.string(), iat: v.number(), exp: v.number() }),
);
type Claims = v.InferOutput<typeof Claims>;
const AccessToken = v.pipe(Json, v.object({ exp: v.number() }));

/** `POST /token`: an access token of an hour for the signed assertion of the service account. */
export function handleTokenRequest({ keys, now }: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const form = new URLSearchParams(call.body.toString('utf8'));
  if (form.get('grant_type') !== grantType) return oauthErrorResponse('unsupported_grant_type', 'Invalid grant_type');
  const claims = verifyAssertion(keys, form.get('assertion') ?? '');
  if (claims === undefined) return oauthErrorResponse('invalid_grant', 'Invalid JWT Signature.');
  const problem = findClaimsProblem(claims, Math.floor(now() / 1000));
  if (problem !== undefined) return problem;
  const exp = Math.floor(now() / 1000) + lifeSeconds;
  return jsonResponse(200, { access_token: accessToken(keys, exp), expires_in: lifeSeconds, token_type: 'Bearer' });
}

/** The claims of an assertion that the service account signed; undefined for anything else. */
function verifyAssertion(keys: Keys, assertion: string): Claims | undefined {
  const [head = '', body = '', signature = '', ...more] = assertion.split('.');
  const header = v.safeParse(Header, decodePart(head));
  const claims = v.safeParse(Claims, decodePart(body));
  if (!header.success || !claims.success || more.length > 0) return undefined;
  if ((header.output.kid ?? keys.accountKeyId) !== keys.accountKeyId) return undefined;
  const publicKey = createPublicKey(keys.accountPrivateKey);
  const isSigned = verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'));
  return isSigned ? claims.output : undefined;
}

function findClaimsProblem({ iss, aud, iat, exp, ...claims }: Claims, seconds: number): HttpResponse | undefined {
  if (iss !== clientEmail) return oauthErrorResponse('invalid_grant', 'Invalid grant: account not found');
  if (aud !== tokenUri) return oauthErrorResponse('invalid_grant', 'Invalid JWT: Failed audience check.');
  if (!claims.scope.split(' ').includes(scope)) {
    return oauthErrorResponse('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
  }
  const isNow = iat <= seconds + skewSeconds && exp >= seconds - skewSeconds;
  if (isNow && exp > iat && exp - iat <= lifeSeconds) return undefined;
  return oauthErrorResponse(
    'invalid_grant',
    'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
  );
}

/** Throws unless the call carries an access token that was given and has not expired. */
export function authorize({ keys, now }: ResponseContext, { headers }: StoreHttpRequest): void {
  const [, payload = '', given = ''] = /^Bearer ya29\.([\w-]+)\.([\w-]+)$/i.exec(headers.authorization ?? '') ?? [];
  const expected = Buffer.from(signToken(keys, payload));
  const isOurs = expected.length === given.length && timingSafeEqual(expected, Buffer.from(given));
  const token = v.safeParse(AccessToken, decodePart(payload));
  if (isOurs && token.success && token.output.exp * secondMs > now()) return;
  throw apiError(
    401,
    'authError',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
  );
}

function accessToken(keys: Keys, exp: number): string {
  const payload = Buffer.from(JSON.stringify({ exp })).toString('base64url');
  return `ya29.${payload}.${signToken(keys, payload)}`;
}

const signToken = ({ tokenSecret }: Keys, payload: string): string =>
  createHmac('sha256', tokenSecret).update(payload).digest('base64url');

const decodePart = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

const oauthErrorResponse = (error: string, description: string): HttpResponse =>
  jsonResponse(400, { error, error_description: description });
