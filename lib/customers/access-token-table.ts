import { createHash, randomBytes } from 'node:crypto';
import { toTtl } from '../foundation/key.ts';
import { accessTokenKey, namingIndexKeys } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { accessTokenPrefix } from '../foundation/redaction/redact-text.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { type AccessTokenGrant, type ActiveGrant, TokenItem } from './access-token.ts';

const ttlMs = 30 * dayMs;
const overlapMs = 3 * dayMs;

/** Returns a new token that is valid for 30 days. */
export async function issueAccessToken(
  service: Service,
  appName: string,
  grant: AccessTokenGrant,
  now: EpochMillis,
): Promise<string> {
  return await save(service, appName, generateToken(), { ...grant, expiresAt: now + ttlMs });
}

/** Returns the grant. Undefined if the app has not issued the token, or if it has expired. */
export async function findAccessToken(
  { table }: Service,
  appName: string,
  token: string,
  now: EpochMillis,
): Promise<ActiveGrant | undefined> {
  if (!accessTokenPattern.test(token)) return undefined;
  const item = await table.get(accessTokenKey(appName, hashToken(token)));
  const grant = item && parse(TokenItem, item, 'DatabaseError');
  return grant && grant.expiresAt > now ? grant : undefined;
}

/** Returns a new token for the grant. The old token stays valid for 3 days, because the response can get lost. */
export async function rotateAccessToken(
  service: Service,
  appName: string,
  { token, grant }: { readonly token: string; readonly grant: ActiveGrant },
  now: EpochMillis,
): Promise<string> {
  const { expiresAt, ...permanentGrant } = grant;
  const newToken = await issueAccessToken(service, appName, permanentGrant, now);
  await save(service, appName, token, { ...grant, expiresAt: Math.min(expiresAt, now + overlapMs) });
  return newToken;
}

async function save({ table }: Service, appName: string, token: string, grant: ActiveGrant): Promise<string> {
  const { username, expiresAt } = grant;
  const key = accessTokenKey(appName, hashToken(token));
  const naming = username !== undefined && ({ appName, username, kind: 'accessToken', date: expiresAt } as const);
  await table.batchPut([{ ...key, ...(naming && namingIndexKeys(naming, key)), ...grant, ttl: toTtl(expiresAt) }]);
  return token;
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
