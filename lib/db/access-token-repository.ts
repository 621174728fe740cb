import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { parse } from '../shared/parse.ts';
import { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { dayMs } from '../shared/time.ts';
import { accessTokenKey } from './keys.ts';
import type { Table } from './table.ts';

const Id = v.exactOptional(v.string());

/** What a token opens: the buyer behind a checkout session, on one account. */
const AccessTokenGrant = v.object({ platform: Platform, session: Id, customer: Id, subscription: Id });
export type AccessTokenGrant = v.InferOutput<typeof AccessTokenGrant>;

const TokenItem = v.object({ ...AccessTokenGrant.entries, expiresAt: v.number() });

/** A grant with the moment at which its token ends. */
export type ActiveGrant = v.InferOutput<typeof TokenItem>;

/** Tokens that an application's buyers hold. The table knows only their digests. */
export interface AccessTokenRepository {
  issue(appName: string, grant: AccessTokenGrant, now: EpochMillis): Promise<string>;
  /** What the token opens; undefined for one that this application did not issue, or that has ended. */
  find(appName: string, token: string, now: EpochMillis): Promise<ActiveGrant | undefined>;
  /** A new token for a grant; the old one goes on for a while, as the answer with the new one may get lost. */
  rotate(
    appName: string,
    old: { readonly token: string; readonly grant: ActiveGrant },
    now: EpochMillis,
  ): Promise<string>;
}

const ttlMs = 30 * dayMs;
const overlapMs = 3 * dayMs;

/** Whether the token is so near to its end that its holder should get another one. */
export const isExpiringSoon = ({ expiresAt }: ActiveGrant, now: EpochMillis): boolean => expiresAt - now < 10 * dayMs;

/** The tokens of one table. */
export function createAccessTokenRepository(table: Table): AccessTokenRepository {
  const put = async (appName: string, token: string, grant: ActiveGrant): Promise<string> => {
    const ttl = Math.ceil(grant.expiresAt / 1000);
    await table.batchPut([{ ...accessTokenKey(appName, hashToken(token)), ...grant, ttl }]);
    return token;
  };
  const issue: AccessTokenRepository['issue'] = async (appName, grant, now) =>
    await put(appName, generateToken(), { ...grant, expiresAt: now + ttlMs });
  return {
    issue,
    async find(appName, token, now) {
      if (!/^ak_[A-Za-z0-9]{32}$/.test(token)) return undefined;
      const item = await table.get(accessTokenKey(appName, hashToken(token)));
      const grant = item && parse(TokenItem, item, 'DatabaseError');
      return grant && grant.expiresAt > now ? grant : undefined;
    },
    async rotate(appName, { token, grant }, now) {
      const { expiresAt, ...opened } = grant;
      const next = await issue(appName, opened, now);
      await put(appName, token, { ...grant, expiresAt: Math.min(expiresAt, now + overlapMs) });
      return next;
    },
  };
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `ak_` and 32 letters and digits, 190 random bits. */
function generateToken(): string {
  let text = '';
  while (text.length < 32) {
    // Bytes beyond the last whole multiple of 62 would make some characters likelier.
    for (const byte of randomBytes(48)) if (byte < 248 && text.length < 32) text += alphabet[byte % 62];
  }
  return `ak_${text}`;
}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
