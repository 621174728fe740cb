import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { buildUpdate, tryUpdate, tryWrite } from '../foundation/updates.ts';
import type { MovedClaim } from '../purchases/claims.ts';
import { isMd5, normalizeAlias, toMd5Alias } from '../purchases/user-aliases.ts';
import { LoggedClaim, Merge } from './merge.ts';

export async function findMerge(
  { table }: Service,
  appName: string,
  to: string,
  mergeId: string,
): Promise<Merge | undefined> {
  const item = await table.get(keys.mergeKey(appName, to, mergeId));
  return item && parse(Merge, item, 'DatabaseError');
}

/** Lists the merges into a customer. */
export async function listMerges({ table }: Service, appName: string, to: string): Promise<Merge[]> {
  const range = { partition: keys.customerKey.partition(appName, to), prefix: keys.mergeKey.sortKey() };
  return (await table.query(range)).map(parseMerge).sort((a, b) => a.startedAt - b.startedAt);
}

/** Lists the merges of a customer into other ones. Eventually consistent. */
export async function listMergesOf({ table }: Service, appName: string, from: string): Promise<Merge[]> {
  const partition = keys.namingKeys.partition(appName, from);
  const entries = await table.query({ partition, index: 'byUser', between: keys.namingRange('merge') });
  return (await table.batchGet(entries.map(toKey))).map(parseMerge).sort((a, b) => a.startedAt - b.startedAt);
}

export async function saveMerge({ table }: Service, appName: string, merge: Merge): Promise<void> {
  const key = keys.mergeKey(appName, merge.to, merge.mergeId);
  const naming = { appName, username: merge.from, kind: 'merge', date: merge.startedAt } as const;
  await table.batchPut([{ ...key, ...keys.namingIndexKeys(naming, key), ...merge }]);
}

/** Marks an app with merged customers. Idempotent. */
export const markMerges = async ({ table }: Service, appName: string): Promise<void> =>
  await table.batchPut([{ ...keys.mergesKey(appName) }]);

/** Lists the moved claims of a merge, latest first, at most `limit`. */
export async function listMovedClaims(
  { table }: Service,
  appName: string,
  { mergeId, from, to }: Merge,
  limit: number,
): Promise<readonly (MovedClaim & { readonly purchaseId: string })[]> {
  const between = keys.movedClaimKey.range(mergeId);
  const range = { partition: keys.customerKey.partition(appName, to), between, newestFirst: true, limit };
  return (await table.query(range)).map((item) => {
    const { claim, ...logged } = parse(LoggedClaim, item, 'DatabaseError');
    return { ...logged, ...(claim && { claim: { ...claim, username: from } }) };
  });
}

export async function deleteMovedClaim(
  { table }: Service,
  appName: string,
  { to }: Merge,
  { mergeId, movedAt, purchaseId }: MovedClaim & { readonly purchaseId: string },
): Promise<void> {
  return await table.batchDelete([keys.movedClaimKey(appName, to, mergeId, movedAt, purchaseId)]);
}

/**
 * Moves an alias from one customer to the other. Does not change an alias that identifies a third customer.
 * Idempotent.
 */
export async function moveAlias(
  { table }: Service,
  appName: string,
  alias: string,
  { from, to }: Pick<Merge, 'from' | 'to'>,
): Promise<void> {
  const key = keys.aliasKey(appName, normalizeAlias(alias));
  const indexKeys = keys.namingIndexKeys({ appName, username: to, kind: 'alias', date: 0 }, key);
  const isComputed = normalizeAlias(alias) === toMd5Alias(from);
  const isOwn = {
    expression: `attribute_not_exists(pk) OR username = :from OR username = :to${isComputed ? ' OR received = :true' : ''}`,
    values: { ':from': from, ':to': to, ...(isComputed && { ':true': true }) },
  };
  // The merged name is no longer the name of another customer: see `listClaimants`.
  const ownName = (isComputed || isPlainName(alias, from)) && { received: undefined, isContested: undefined };
  await tryUpdate(table, buildUpdate(key, { username: to, isMerged: true, ...ownName, ...indexKeys }, isOwn));
}

/**
 * Reverts `moveAlias`. Does not change an alias that was saved again since. `isMerged`: an earlier merge has moved it
 * to the merged customer. Idempotent.
 */
export async function returnAlias(
  { table }: Service,
  appName: string,
  alias: string,
  { from, to, isMerged }: Pick<Merge, 'from' | 'to'> & { readonly isMerged: boolean },
): Promise<void> {
  const key = keys.aliasKey(appName, normalizeAlias(alias));
  const item = await table.get(key);
  if (item?.isMerged !== true || item.username !== to) return;
  const isUnchanged = { expression: 'isMerged = :true AND username = :to', values: { ':true': true, ':to': to } };
  if (isPlainName(alias, from)) {
    const condition = {
      ConditionExpression: isUnchanged.expression,
      ExpressionAttributeValues: isUnchanged.values,
    };
    await tryWrite(async () => await table.delete({ Key: key, ...condition }));
    return;
  }
  // An alias that can be computed is not indexed.
  const isComputed = normalizeAlias(alias) === toMd5Alias(from);
  const indexKeys = isComputed
    ? { userPk: undefined, userSk: undefined }
    : keys.namingIndexKeys({ appName, username: from, kind: 'alias', date: 0 }, key);
  await tryUpdate(
    table,
    buildUpdate(key, { username: from, isMerged: isMerged || undefined, ...indexKeys }, isUnchanged),
  );
}

const parseMerge = (item: Item): Merge => parse(Merge, item, 'DatabaseError');

/** Before a merge, the customer item identifies an alias that is the username itself. */
const isPlainName = (alias: string, username: string): boolean => !isMd5(alias) && alias === username;
