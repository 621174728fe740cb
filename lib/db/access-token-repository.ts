import { createHash, randomBytes } from 'node:crypto';
import { type AccessTokenRepository, type ActiveGrant, TokenItem } from '../customers/access-token-repository.ts';
import { accessTokenKey, namingIndexKeys, toTtl } from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { accessTokenPrefix } from '../shared/key-prefixes.ts';
import { parse } from '../shared/parse.ts';
import { dayMs } from '../shared/time.ts';

const ttlMs = 30 * dayMs;
const overlapMs = 3 * dayMs;
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
      if (!accessTokenPattern.test(token)) return undefined;
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

const accessTokenPattern = new RegExp(`^${accessTokenPrefix}_[A-Za-z0-9]{32}$`);

/** Generates `ak_` and 32 letters and digits, which contain 190 random bits. */
function generateToken(): string {
  let text = '';
  while (text.length < 32) {
    for (const byte of randomBytes(48)) {
      if (byte < unbiasedBytes && text.length < 32) text += alphabet[byte % alphabet.length];
    }
  }
  return `${accessTokenPrefix}_${text}`;
}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
