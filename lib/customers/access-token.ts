import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';

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
const rotateBeforeMs = 10 * dayMs;

export const isExpiringSoon = ({ expiresAt }: ActiveGrant, now: EpochMillis): boolean =>
  expiresAt - now < rotateBeforeMs;
