import { cacheRead } from '../apps/app-table.ts';
import * as keys from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import type { Observation } from './observation.ts';
import { type AliasedUser, isMd5, listClientAliases, normalizeAlias, toMd5Alias } from './user-aliases.ts';

/** A customer with the user aliases of a validation. */
export interface ObservedUser extends AliasedUser {
  /**
   * The aliases in the store's observation of the evidence. An alias of the client counts only if the store confirms
   * it.
   */
  readonly storeAliases: readonly string[];
}

export interface Md5Alias {
  readonly alias: string;
  readonly isSaved: boolean;
  readonly purchaseIds: readonly string[];
}

export interface UnclaimedPurchases {
  readonly ownAliases: readonly string[];
  readonly purchaseIds: readonly string[];
}

/**
 * Reads the MD5 alias of the customer: whether it has been saved, and the ids of the unclaimed purchases that are
 * filed under it, at most `limit`.
 */
export async function findMd5Alias(
  { table }: Service,
  appName: string,
  username: string,
  limit: number,
): Promise<Md5Alias> {
  const alias = toMd5Alias(username);
  const { item, links } = await queryAlias(table, appName, { alias, limit });
  return { alias, isSaved: item?.username === username, purchaseIds: toUnclaimedIds(links, limit) };
}

/**
 * Saves the MD5 alias of the customer, and confirmed aliases. A confirmed alias of two customers is contested: it
 * identifies neither of them, because clients choose these aliases freely.
 */
export async function saveUserAliases({ table }: Service, appName: string, user: ObservedUser): Promise<void> {
  const { username } = user;
  const key = keys.aliasKey(appName, toMd5Alias(username));
  // Without index keys, because the alias can be computed. A request that began before a merge does not undo it.
  const computed = { username, received: undefined, isContested: undefined, isMerged: undefined };
  const isNotMerged = { expression: 'attribute_not_exists(isMerged) OR received = :true', values: { ':true': true } };
  await tryUpdate(table, buildUpdate(key, { ...computed, userPk: undefined, userSk: undefined }, isNotMerged));
  for (const alias of listConfirmedAliases(user)) {
    if (!(await isNameOfOtherCustomer(table, appName, { alias, username }))) {
      await saveReceivedAlias(table, appName, { alias: normalizeAlias(alias), username });
    }
  }
}

/**
 * Lists the other aliases of the customer that do not identify a second customer, whether or not they are saved,
 * and the ids of the unclaimed purchases that are filed under one of them, at most `limit`.
 */
export async function findUnclaimedPurchases(
  { table }: Service,
  appName: string,
  user: ObservedUser,
  limit: number,
): Promise<UnclaimedPurchases> {
  const { username } = user;
  // A purchase filed under an MD5 belongs to the customer with that MD5 only, even if a store shows it for another
  // one.
  const otherAliases = [...new Set([username, ...listConfirmedAliases(user)])].filter((alias) => !isMd5(alias));
  const [customers, ...partitions] = await Promise.all([
    // A user's plain name identifies no second customer.
    table.batchGet(otherAliases.filter((alias) => alias !== username).map((alias) => keys.customerKey(appName, alias))),
    ...otherAliases.map((alias) => queryAlias(table, appName, { alias, limit })),
  ]);
  const own = partitions.flatMap(({ alias, item, links }) => {
    const customer = customers.find(({ pk }) => pk === keys.customerKey(appName, alias).pk);
    const isOwn = listClaimants(alias, { item, customer }).every((name) => name === username);
    return isOwn ? [{ alias: normalizeAlias(alias), links }] : [];
  });
  return {
    ownAliases: [...new Set(own.map(({ alias }) => alias))],
    purchaseIds: toUnclaimedIds(
      own.flatMap(({ links }) => links),
      limit,
    ),
  };
}

/** Lists the ids of the unclaimed purchases that are filed under one of the aliases, at most `limit`. */
export async function listUnclaimedPurchases(
  { table }: Service,
  appName: string,
  aliases: readonly string[],
  limit: number,
): Promise<string[]> {
  const partitions = new Set(aliases.map((alias) => keys.aliasKey(appName, normalizeAlias(alias)).pk));
  const links = await Promise.all([...partitions].map((partition) => queryUnclaimed(table, partition, limit)));
  return toUnclaimedIds(links.flat(), limit);
}

const hasCachedMerges = cacheRead(
  async ({ table }: Service, appName: string) => (await table.get(keys.mergesKey(appName))) !== undefined,
);

/**
 * Returns the customer that a name of a client identifies: the one that it was merged into, or the name itself. Clients
 * send the former name for years. Reads nothing for an app without merges, or without a name.
 */
export async function resolveMergedName<Name extends string | undefined>(
  service: Service,
  appName: string,
  username: Name,
): Promise<Name | string> {
  if (username === undefined || !(await hasCachedMerges(service, appName))) return username;
  const item = await service.table.get(keys.aliasKey(appName, toMd5Alias(username)));
  return isMergedName(item) ? String(item?.username) : username;
}

/** Finds the customer of an alias: the username itself, its MD5, its MD5 as a UUID, or a saved alias. */
export async function findUserOfAlias({ table }: Service, appName: string, alias: string): Promise<string | undefined> {
  const [claimant, other] = await findClaimants(table, appName, alias);
  return other === undefined ? claimant : undefined;
}

/** Finds the customer whom a store identifies by an alias. */
export async function findStoreUser(
  service: Service,
  appName: string,
  { userAliases }: Observation,
): Promise<string | undefined> {
  for (const alias of userAliases) {
    const username = await findUserOfAlias(service, appName, alias);
    if (username !== undefined) return username;
  }
  return undefined;
}

/** The alias identifies another customer than `username`, or is contested. */
export const belongsToOthers = async (
  { table }: Service,
  appName: string,
  { alias, username }: { readonly alias: string; readonly username: string },
): Promise<boolean> => (await findClaimants(table, appName, alias)).some((claimant) => claimant !== username);

const queryUnclaimed = async (table: Table, partition: string, limit: number): Promise<Item[]> =>
  await table.query({ partition, prefix: keys.unclaimedKey.sortKey(), limit });

const toUnclaimedIds = (links: readonly Item[], limit: number): string[] => {
  const ids = new Set(links.map(({ sk }) => keys.unclaimedKey.parseSortKey(String(sk)).purchaseId));
  return [...ids].slice(0, limit);
};

/** Reads an alias, which sorts first in its partition, and the unclaimed purchases that are filed under it. */
async function queryAlias(table: Table, appName: string, { alias, limit }: { alias: string; limit: number }) {
  const { pk: partition, sk: aliasSk } = keys.aliasKey(appName, normalizeAlias(alias));
  const items = await table.query({ partition, limit: limit + 1 });
  const links = items.filter(({ sk }) => String(sk).startsWith(keys.unclaimedKey.sortKey())).slice(0, limit);
  return { alias, item: items.find(({ sk }) => sk === aliasSk), links };
}

/** Stands for the other customers of a contested alias. No customer has an empty name. */
const contestant = '';

/** Reads the customers that an alias can identify. */
async function findClaimants(table: Table, appName: string, alias: string): Promise<string[]> {
  const key = keys.aliasKey(appName, normalizeAlias(alias));
  // The username of a customer can equal the MD5 of a second customer. The first must not receive the second's
  // purchases.
  const items = await table.batchGet(isMd5(alias) ? [key] : [key, keys.customerKey(appName, alias)]);
  const item = items.find(({ pk }) => pk === key.pk);
  return listClaimants(alias, { item, customer: items.find(({ pk }) => pk !== key.pk) });
}

/**
 * Lists the customers that an alias can identify. An MD5 identifies one. Any other alias is contested if a second
 * customer was observed with it, or if it became the name of a second customer.
 */
function listClaimants(
  alias: string,
  { item, customer }: { readonly item: Item | undefined; readonly customer: Item | undefined },
): string[] {
  const received = item ? [String(item.username), ...(item.isContested ? [contestant] : [])] : [];
  // The customer item of a merged name stays, but the name identifies the customer of the merge.
  return [...new Set([...received, ...(customer && !isMergedName(item) ? [alias] : [])])];
}

const isMergedName = (item: Item | undefined): boolean => item?.isMerged === true && item.received !== true;

const isNameOfOtherCustomer = async (
  table: Table,
  appName: string,
  { alias, username }: { alias: string; username: string },
): Promise<boolean> =>
  alias !== username && !isMd5(alias) && (await table.get(keys.customerKey(appName, alias))) !== undefined;

/** Saves a received alias. A computed MD5 alias takes precedence over it; a second customer makes it contested. */
async function saveReceivedAlias(
  table: Table,
  appName: string,
  { alias, username }: { alias: string; username: string },
): Promise<void> {
  const key = keys.aliasKey(appName, alias);
  // Aliases are undated: a customer has few of them.
  const indexKeys = keys.namingIndexKeys({ appName, username, kind: 'alias', date: 0 }, key);
  const isFree = {
    expression: 'attribute_not_exists(pk) OR username = :username',
    values: { ':username': username },
  };
  if (await tryUpdate(table, buildUpdate(key, { username, received: true, ...indexKeys }, isFree))) return;
  const isReceived = { expression: 'received = :true', values: { ':true': true } };
  await tryUpdate(table, buildUpdate(key, { isContested: true }, isReceived));
}

/** Lists the client's aliases that the store confirms. A plain username is found by the customer item instead. */
function listConfirmedAliases({ storeAliases, ...user }: ObservedUser): string[] {
  const confirmed = new Set(storeAliases.map(normalizeAlias));
  return listClientAliases(user).filter((alias) => confirmed.has(normalizeAlias(alias)));
}
