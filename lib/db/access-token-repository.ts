import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { parse } from '../shared/parse.ts';
import { Platform } from '../shared/platform.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import { accessTokenKey, namingIndexKeys, toTtl } from './keys.ts';
import type { Table } from './table.ts';

const Id = v.exactOptional(v.string());

/**
 * Access granted by a token: to a checkout session, or to a customer and a subscription, in one processor account. `username` is
 * the user that the checkout names.
 */
const AccessTokenGrant = v.object({ platform: Platform, session: Id, customer: Id, subscription: Id, username: Id });
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

const ttlMs = 30 * dayMs;
const overlapMs = 3 * dayMs;
const rotateBeforeMs = 10 * dayMs;

/** Whether the token expires so soon that it must be rotated. */
export const isExpiringSoon = ({ expiresAt }: ActiveGrant, now: EpochMillis): boolean =>
  expiresAt - now < rotateBeforeMs;

export function createAccessTokenRepository(table: Table): AccessTokenRepository {
  const save = async (appName: string, token: string, grant: ActiveGrant): Promise<string> => {
    const { username, expiresAt } = grant;
    const key = accessTokenKey(appName, hashToken(token));
    const naming = username !== undefined && ({ appName, username, kind: 'accessToken', date: expiresAt } as const);
    await table.batchPut([{ ...key, ...(naming && namingIndexKeys(naming, key)), ...grant, ttl: toTtl(expiresAt) }]);
    return token;
  };
  const issue: AccessTokenRepository['issue'] = async (appName, grant, now) =>
    await save(appName, generateToken(), { ...grant, expiresAt: now + ttlMs });
  return {
    issue,
    async find(appName, token, now) {
      if (!/^ak_[A-Za-z0-9]{32}$/.test(token)) return undefined;
      const item = await table.get(accessTokenKey(appName, hashToken(token)));
      const grant = item && parse(TokenItem, item, 'DatabaseError');
      return grant && grant.expiresAt > now ? grant : undefined;
    },
    async rotate(appName, { token, grant }, now) {
      const { expiresAt, ...permanentGrant } = grant;
      const newToken = await issue(appName, permanentGrant, now);
      await save(appName, token, { ...grant, expiresAt: Math.min(expiresAt, now + overlapMs) });
      return newToken;
    },
  };
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The largest multiple of 62 in a byte: a greater byte would make some characters more likely. */
const unbiasedBytes = 248;

/** Generates `ak_` and 32 letters and digits, which contain 190 random bits. */
function generateToken(): string {
  let text = '';
  while (text.length < 32) {
    for (const byte of randomBytes(48)) {
      if (byte < unbiasedBytes && text.length < 32) text += alphabet[byte % alphabet.length];
    }
  }
  return `ak_${text}`;
}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
