import * as v from 'valibot';
import { dayMs, secondMs, toEpochSeconds } from '../calendar.ts';
import { signToken, verifyToken } from './jwt.ts';
import type { Account } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { unauthorizedError } from './service-error.ts';
import type { StoreState } from './store-state.ts';

/** Services of the store. Each accepts only its own StoreID keys. */
export const StoreService = v.picklist(['collections', 'purchase']);
export type StoreService = v.InferOutput<typeof StoreService>;

const namespace = 'http://schemas.microsoft.com/marketplace/2015/08/claims/key/';
const ttlSeconds = (30 * dayMs) / secondMs;

const KeyClaims = v.object({
  aud: v.string(),
  exp: v.number(),
  [`${namespace}clientId`]: v.string(),
  [`${namespace}payload`]: v.string(),
  [`${namespace}userId`]: v.string(),
});

/** Account of a StoreID key, with the user id that the publisher assigned. */
export interface KeyHolder {
  readonly account: Account;
  readonly userId: string;
  readonly clientId: string;
}

const toIssuer = (service: StoreService): string => `https://${service}.mp.microsoft.com/v6.0/keys`;

/**
 * Signs a StoreID key with a TTL of 30 days.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
export function signStoreIdKey(
  { keys, now }: ResponseContext,
  service: StoreService,
  { account, userId, clientId }: KeyHolder,
): string {
  const issuedAt = toEpochSeconds(now());
  return signToken(keys, {
    [`${namespace}clientId`]: clientId.replaceAll('-', ''),
    [`${namespace}payload`]: toPayload(account),
    [`${namespace}userId`]: userId,
    [`${namespace}refreshUri`]: `https://${service}.mp.microsoft.com/v6.0/b2b/keys/renew`,
    iat: issuedAt,
    iss: toIssuer(service),
    aud: toIssuer(service),
    exp: issuedAt + ttlSeconds,
    nbf: issuedAt,
  });
}

/** Microsoft does not document the content. */
const toPayload = ({ id, keyRevocations = 0 }: Account): string =>
  Buffer.from(keyRevocations === 0 ? id : `${id} ${keyRevocations}`).toString('base64');

/**
 * Revokes all keys of a customer before they expire. Only the customer's device creates other ones.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/renew-a-windows-store-id-key
 */
export function revokeKeys({ accounts }: StoreState, account: Account): void {
  accounts.set(account.id, { ...account, keyRevocations: (account.keyRevocations ?? 0) + 1 });
}

/**
 * Returns the holder of a key. Throws an unauthorized error if the key is expired or revoked, or belongs to another
 * service.
 */
export function verifyStoreIdKey({ keys, state, now }: ResponseContext, service: StoreService, key: string): KeyHolder {
  const claims = v.safeParse(KeyClaims, verifyToken(keys, key));
  if (!claims.success || claims.output.aud !== toIssuer(service) || claims.output.exp * secondMs <= now()) {
    throw unauthorizedError('AuthenticationTokenInvalid');
  }
  const { [`${namespace}payload`]: payload = '', [`${namespace}userId`]: userId = '' } = claims.output;
  const [accountId = ''] = Buffer.from(String(payload), 'base64').toString().split(' ');
  const account = state.accounts.get(accountId);
  if (account === undefined || toPayload(account) !== payload) throw unauthorizedError('AuthenticationTokenInvalid');
  return { account, userId: String(userId), clientId: String(claims.output[`${namespace}clientId`]) };
}
