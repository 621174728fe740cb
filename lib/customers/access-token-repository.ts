import * as v from 'valibot';
import { Platform } from '../shared/platform.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';

const Id = v.exactOptional(v.string());

/**
 * Access granted by a token: to a checkout session, or to a customer and a subscription, in one processor account.
 * `username` is the user that the checkout names.
 */
export const AccessTokenGrant = v.object({
  platform: Platform,
  session: Id,
  customer: Id,
  subscription: Id,
  username: Id,
});

export type AccessTokenGrant = v.InferOutput<typeof AccessTokenGrant>;

export const TokenItem = v.object({ ...AccessTokenGrant.entries, expiresAt: v.number() });

/** A grant with the time at which its token expires, in epoch milliseconds. */
export type ActiveGrant = v.InferOutput<typeof TokenItem>;

/** The access tokens of all apps. The table contains their SHA-256 digests only. */
export interface AccessTokenRepository {
  /** Returns a new token that is valid for 30 days. */
  issue(appName: string, grant: AccessTokenGrant, now: EpochMillis): Promise<string>;
  /** Returns the grant. Undefined if the app has not issued the token, or if it has expired. */
  find(appName: string, token: string, now: EpochMillis): Promise<ActiveGrant | undefined>;
  /** Returns a new token for the grant. The old token stays valid for 3 days, because the response can get lost. */
  rotate(
    appName: string,
    old: { readonly token: string; readonly grant: ActiveGrant },
    now: EpochMillis,
  ): Promise<string>;
}

const rotateBeforeMs = 10 * dayMs;

export const isExpiringSoon = ({ expiresAt }: ActiveGrant, now: EpochMillis): boolean =>
  expiresAt - now < rotateBeforeMs;
