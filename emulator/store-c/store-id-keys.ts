import * as v from 'valibot';
import { secondMs } from '../calendar.ts';
import { signToken, verifyToken } from './jwt.ts';
import type { Account } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { unauthorizedError } from './service-error.ts';

/** The two services, each of which takes only its own keys. */
export const StoreService = v.picklist(['collections', 'purchase']);
export type StoreService = v.InferOutput<typeof StoreService>;

const namespace = 'http://schemas.microsoft.com/marketplace/2015/08/claims/key/';
const lifeSeconds = 30 * 86_400;

const KeyClaims = v.object({
  aud: v.string(),
  exp: v.number(),
  [`${namespace}clientId`]: v.string(),
  [`${namespace}payload`]: v.string(),
  [`${namespace}userId`]: v.string(),
});

/** What a StoreID key stands for: an account, under the name that the application gave its user. */
export interface KeyHolder {
  readonly account: Account;
  readonly userId: string;
  readonly clientId: string;
}

const toIssuer = (service: StoreService): string => `https://${service}.mp.microsoft.com/v6.0/keys`;

/** A StoreID key of 30 days. */
export function signStoreIdKey(
  { keys, now }: ResponseContext,
  service: StoreService,
  { account, userId, clientId }: KeyHolder,
): string {
  const issuedAt = Math.floor(now() / 1000);
  return signToken(keys, {
    [`${namespace}clientId`]: clientId.replaceAll('-', ''),
    [`${namespace}payload`]: Buffer.from(account.id).toString('base64'),
    [`${namespace}userId`]: userId,
    [`${namespace}refreshUri`]: `https://${service}.mp.microsoft.com/v6.0/b2b/keys/renew`,
    iat: issuedAt,
    iss: toIssuer(service),
    aud: toIssuer(service),
    exp: issuedAt + lifeSeconds,
    nbf: issuedAt,
  });
}

/** Whom a key stands for. Throws when it is not one of this service, or has expired. */
export function verifyStoreIdKey({ keys, state, now }: ResponseContext, service: StoreService, key: string): KeyHolder {
  const claims = v.safeParse(KeyClaims, verifyToken(keys, key));
  if (!claims.success || claims.output.aud !== toIssuer(service) || claims.output.exp * secondMs <= now()) {
    throw unauthorizedError('AuthenticationTokenInvalid');
  }
  const { [`${namespace}payload`]: payload = '', [`${namespace}userId`]: userId = '' } = claims.output;
  const account = state.accounts.get(Buffer.from(String(payload), 'base64').toString());
  if (account === undefined) throw unauthorizedError('AuthenticationTokenInvalid');
  return { account, userId: String(userId), clientId: String(claims.output[`${namespace}clientId`]) };
}
