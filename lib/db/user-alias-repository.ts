import { createHash } from 'node:crypto';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';
import { tryUpdate } from './try-update.ts';

/** A customer with the user aliases of a validation. */
interface UserWithAliases {
  readonly username: string;
  /** The alias that the client says it passed to the store. */
  readonly obfuscatedUsername?: string;
  /** The aliases in the store's observations. An alias of the client counts only if the store confirms it. */
  readonly storeAliases: readonly string[];
}

/** The user aliases of all apps: the forms of a username that stores echo. */
export interface UserAliasRepository {
  /** Whether the aliases of the customer have been saved. */
  hasAlias(appName: string, username: string): Promise<boolean>;
  /** Saves the MD5 alias of the customer, and confirmed aliases that do not belong to another customer. */
  saveAliases(appName: string, user: UserWithAliases): Promise<void>;
  /** Finds the customer of an alias: the username itself, its MD5, its MD5 as a UUID, or a saved alias. */
  findUser(appName: string, alias: string): Promise<string | undefined>;
  /** Lists the ids of the unclaimed purchases that are filed under an alias of the customer. */
  listUnclaimedPurchases(appName: string, user: UserWithAliases): Promise<string[]>;
}

export function createUserAliasRepository(table: Table): UserAliasRepository {
  return {
    async hasAlias(appName, username) {
      const item = await table.get(keys.aliasKey(appName, toMd5Alias(username)));
      return item?.username === username;
    },
    async saveAliases(appName, user) {
      const { username } = user;
      await table.batchPut([{ ...keys.aliasKey(appName, toMd5Alias(username)), username }]);
      for (const alias of listConfirmedAliases(user)) {
        await saveReceivedAlias(table, keys.aliasKey(appName, normalizeAlias(alias)), username);
      }
    },
    async listUnclaimedPurchases(appName, user) {
      const { username } = user;
      // A purchase filed under an MD5 belongs to the customer with that MD5 only, even if a store shows it for another one.
      const otherAliases = [username, ...listConfirmedAliases(user)].filter((alias) => !isMd5(alias));
      const aliases = [toMd5Alias(username), ...otherAliases.map(normalizeAlias)];
      const links = await Promise.all(
        [...new Set(aliases)].map((alias) =>
          table.query({ partition: keys.aliasKey(appName, alias).pk, prefix: keys.unclaimedPrefix }),
        ),
      );
      return [...new Set(links.flat().map(({ sk }) => String(sk).slice(keys.unclaimedPrefix.length)))];
    },
    async findUser(appName, alias) {
      const item = await table.get(keys.aliasKey(appName, normalizeAlias(alias)));
      if (item && !item.received) return String(item.username);
      // The username of a customer can equal the MD5 of a second customer. The first must not receive the second's purchases.
      const customer = isMd5(alias) ? undefined : await table.get(keys.customerKey(appName, alias));
      return customer ? alias : item && String(item.username);
    },
  };
}

/** Saves a received alias. Does not overwrite another customer's alias. A computed MD5 alias does overwrite a received one. */
async function saveReceivedAlias(table: Table, key: keys.Key, username: string): Promise<void> {
  const isFree = {
    expression: 'attribute_not_exists(pk) OR username = :username',
    values: { ':username': username },
  };
  await tryUpdate(table, buildUpdate(key, { username, received: true }, isFree));
}

const toMd5Alias = (username: string): string => normalizeAlias(createHash('md5').update(username).digest('hex'));

/** Lists the client's aliases that the store confirms. A plain username is found by the customer item instead. */
function listConfirmedAliases({ username, obfuscatedUsername, storeAliases }: UserWithAliases): string[] {
  const confirmed = new Set(storeAliases.map(normalizeAlias));
  const clientAliases = [...(isMd5(username) ? [username] : []), obfuscatedUsername].filter(
    (alias) => alias !== undefined,
  );
  return clientAliases.filter(
    (alias) => confirmed.has(normalizeAlias(alias)) && normalizeAlias(alias) !== toMd5Alias(username),
  );
}

const isUuid = (alias: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(alias);
/** Whether the alias is an MD5 in hex, or a UUID of version 3, which clients build from an MD5. */
const isMd5 = (alias: string): boolean => /^[0-9a-f]{32}$/i.test(alias) || (isUuid(alias) && alias[14] === '3');

/**
 * Returns the same text for an MD5 in hex and as a UUID: the UUID's version and variant overwrite two of its 32
 * digits. Returns another UUID in lower case, and any other text unchanged.
 */
export function normalizeAlias(alias: string): string {
  if (!isMd5(alias)) return isUuid(alias) ? alias.toLowerCase() : alias;
  const hex = alias.toLowerCase().replaceAll('-', '');
  return `${hex.slice(0, 12)}_${hex.slice(13, 16)}_${hex.slice(17)}`;
}
