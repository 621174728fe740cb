import * as v from 'valibot';
import { claimsOf, signedToken } from './jwt.ts';
import type { Account } from './records.ts';
import { unauthorized } from './service-error.ts';
import type { Source } from './source.ts';

/** The two services, each of which takes only its own keys. */
export const Service = v.picklist(['collections', 'purchase']);
export type Service = v.InferOutput<typeof Service>;

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

const issuerOf = (service: Service): string => `https://${service}.mp.microsoft.com/v6.0/keys`;

/** A StoreID key of 30 days. */
export function storeIdKey({ keys, now }: Source, service: Service, { account, userId, clientId }: KeyHolder): string {
  const issuedAt = Math.floor(now() / 1000);
  return signedToken(keys, {
    [`${namespace}clientId`]: clientId.replaceAll('-', ''),
    [`${namespace}payload`]: Buffer.from(account.id).toString('base64'),
    [`${namespace}userId`]: userId,
    [`${namespace}refreshUri`]: `https://${service}.mp.microsoft.com/v6.0/b2b/keys/renew`,
    iat: issuedAt,
    iss: issuerOf(service),
    aud: issuerOf(service),
    exp: issuedAt + lifeSeconds,
    nbf: issuedAt,
  });
}

/** Whom a key stands for. Throws when it is not one of this service, or has expired. */
export function holderOf({ keys, books, now }: Source, service: Service, key: string): KeyHolder {
  const claims = v.safeParse(KeyClaims, claimsOf(keys, key));
  if (!claims.success || claims.output.aud !== issuerOf(service) || claims.output.exp * 1000 <= now()) {
    throw unauthorized('AuthenticationTokenInvalid');
  }
  const { [`${namespace}payload`]: payload = '', [`${namespace}userId`]: userId = '' } = claims.output;
  const account = books.accounts.get(Buffer.from(String(payload), 'base64').toString());
  if (account === undefined) throw unauthorized('AuthenticationTokenInvalid');
  return { account, userId: String(userId), clientId: String(claims.output[`${namespace}clientId`]) };
}
