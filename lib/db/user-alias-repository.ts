import { createHash } from 'node:crypto';
import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** A user as a validation names one. */
interface UserWithAliases {
  readonly username: string;
  /** The form that the client says it gave to the store. */
  readonly obfuscatedUsername?: string;
  /** The forms that stores showed with what was validated: what a client says counts when a store says it, too. */
  readonly storeAliases: readonly string[];
}

/** The forms in which stores echo a user back, and whose they are. */
export interface UserAliasRepository {
  /** Whether the user has been remembered. */
  hasAlias(appName: string, username: string): Promise<boolean>;
  /** Remembers the user's MD5 form, and other forms that a store showed and that are nobody else's. */
  saveAliases(appName: string, user: UserWithAliases): Promise<void>;
  /** The user behind a form that a store echoed: raw, MD5, MD5 laid out as a UUID, or one that was remembered. */
  findUser(appName: string, token: string): Promise<string | undefined>;
  /** The purchases (ids) that came before their user was known, under any of the user's forms. */
  listUnclaimedPurchases(appName: string, user: UserWithAliases): Promise<string[]>;
}

export function createUserAliasRepository(table: Table): UserAliasRepository {
  return {
    async hasAlias(appName, username) {
      const alias = await table.get(keys.aliasKey(appName, toMd5Alias(username)));
      return alias?.username === username;
    },
    async saveAliases(appName, user) {
      const { username } = user;
      await table.batchPut([{ ...keys.aliasKey(appName, toMd5Alias(username)), username }]);
      for (const form of listConfirmedAliases(user)) {
        await saveReceivedAlias(table, keys.aliasKey(appName, normalizeAlias(form)), username);
      }
    },
    async listUnclaimedPurchases(appName, user) {
      const { username } = user;
      // What waits under the MD5 of a name is for the user of that name alone, whoever else was shown with it.
      const others = [username, ...listConfirmedAliases(user)].filter((form) => !isMd5(form));
      const forms = [toMd5Alias(username), ...others.map(normalizeAlias)];
      const waiting = await Promise.all(
        [...new Set(forms)].map((form) =>
          table.query({ partition: keys.aliasKey(appName, form).pk, prefix: keys.unclaimedPrefix }),
        ),
      );
      return [...new Set(waiting.flat().map(({ sk }) => String(sk).slice(keys.unclaimedPrefix.length)))];
    },
    async findUser(appName, token) {
      const alias = await table.get(keys.aliasKey(appName, normalizeAlias(token)));
      if (alias && !alias.received) return String(alias.username);
      // A user who is called like the MD5 of another one must not stand in for that one.
      const customer = isMd5(token) ? undefined : await table.get(keys.customerKey(appName, token));
      return customer ? token : alias && String(alias.username);
    },
  };
}

/** A form that somebody has stays theirs, and the MD5 of a user who comes later takes its place. */
async function saveReceivedAlias(table: Table, key: keys.Key, username: string): Promise<void> {
  const free = { expression: 'attribute_not_exists(pk) OR username = :mine', values: { ':mine': username } };
  try {
    await table.update(buildUpdate(key, { username, received: true }, free));
  } catch (error) {
    if (ServiceError.fromUnknown(error).code !== ('Conflict' satisfies ErrorCode)) throw error;
  }
}

const toMd5Alias = (username: string): string => normalizeAlias(createHash('md5').update(username).digest('hex'));

/** What the client says of its user's forms and a store shows as well. A plain name is found by the customer's own item. */
function listConfirmedAliases({ username, obfuscatedUsername, storeAliases }: UserWithAliases): string[] {
  const known = new Set(storeAliases.map(normalizeAlias));
  const clientAliases = [...(isMd5(username) ? [username] : []), obfuscatedUsername].filter(
    (form) => form !== undefined,
  );
  return clientAliases.filter(
    (form) => known.has(normalizeAlias(form)) && normalizeAlias(form) !== toMd5Alias(username),
  );
}

const isUuid = (token: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(token);
/** An MD5 in hex, or as the UUID of version 3 that clients make of it. */
const isMd5 = (token: string): boolean => /^[0-9a-f]{32}$/i.test(token) || (isUuid(token) && token[14] === '3');

/**
 * One form for an MD5 in hex and for the same MD5 laid out as a UUID, whose version and variant digits overwrite two of
 * its 32; a UUID in either case is one, too, and any other text stands for itself.
 */
export function normalizeAlias(token: string): string {
  if (!isMd5(token)) return isUuid(token) ? token.toLowerCase() : token;
  const hex = token.toLowerCase().replaceAll('-', '');
  return `${hex.slice(0, 12)}_${hex.slice(13, 16)}_${hex.slice(17)}`;
}
