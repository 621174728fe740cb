import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { toTtl } from '../foundation/key.ts';
import { accessTokenKey, namingIndexKeys } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { Platform } from '../foundation/platform.ts';
import { accessTokenPrefix } from '../foundation/redaction/redact-text.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';

const ttlMs = 30 * dayMs;
const overlapMs = 3 * dayMs;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The largest multiple of 62 in a byte: a greater byte would make some characters more likely. */
const unbiasedBytes = 248;

const accessTokenPattern = new RegExp(`^${accessTokenPrefix}_[A-Za-z0-9]{32}$`);

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

export const isExpiringSoon = ({ expiresAt }: ActiveGrant, now: EpochMillis): boolean =>
  expiresAt - now < rotateBeforeMs;
