import { LoggedClaim, Merge, type MergeRepository } from '../customers/merge-repository.ts';
import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import type { Item, Table } from '../foundation/table.ts';
import { tryUpdate, tryWrite } from '../foundation/try-update.ts';
import { isMd5, normalizeAlias, toMd5Alias } from '../purchases/user-aliases.ts';
import { parse } from '../shared/parse.ts';

export function createMergeRepository(table: Table): MergeRepository {
  return {
    async find(appName, to, mergeId) {
      const item = await table.get(keys.mergeKey(appName, to, mergeId));
      return item && parse(Merge, item, 'DatabaseError');
    },
    async list(appName, to) {
      const range = { partition: keys.customerPartition(appName, to), prefix: keys.mergePrefix };
      return (await table.query(range)).map(parseMerge).sort((a, b) => a.startedAt - b.startedAt);
    },
    async listByMerged(appName, from) {
      const partition = keys.namingPartition(appName, from);
      const entries = await table.query({ partition, index: 'byUser', between: keys.namingRange('merge') });
      return (await table.batchGet(entries.map(keys.toKey))).map(parseMerge).sort((a, b) => a.startedAt - b.startedAt);
    },
    async save(appName, merge) {
      const key = keys.mergeKey(appName, merge.to, merge.mergeId);
      const naming = { appName, username: merge.from, kind: 'merge', date: merge.startedAt } as const;
      await table.batchPut([{ ...key, ...keys.namingIndexKeys(naming, key), ...merge }]);
    },
    async listMovedClaims(appName, { mergeId, from, to }, limit) {
      const between = keys.toPrefixRange(keys.toMovedClaimPrefix(mergeId));
      const range = { partition: keys.customerPartition(appName, to), between, newestFirst: true, limit };
      return (await table.query(range)).map((item) => {
        const { claim, ...logged } = parse(LoggedClaim, item, 'DatabaseError');
        return { ...logged, ...(claim && { claim: { ...claim, username: from } }) };
      });
    },
    deleteMovedClaim: async (appName, { to }, moved) =>
      await table.batchDelete([keys.movedClaimKey(appName, to, moved)]),
    async moveAlias(appName, alias, { from, to }) {
      const key = keys.aliasKey(appName, normalizeAlias(alias));
      const indexKeys = keys.namingIndexKeys({ appName, username: to, kind: 'alias', date: 0 }, key);
      const isOwn = {
        expression: 'attribute_not_exists(pk) OR username = :from OR username = :to',
        values: { ':from': from, ':to': to },
      };
      await tryUpdate(table, buildUpdate(key, { username: to, isMerged: true, ...indexKeys }, isOwn));
    },
    async returnAlias(appName, alias, { from, to }) {
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
      // An alias that can be computed has no index keys.
      const isComputed = normalizeAlias(alias) === toMd5Alias(from);
      const indexKeys = isComputed
        ? { userPk: undefined, userSk: undefined }
        : keys.namingIndexKeys({ appName, username: from, kind: 'alias', date: 0 }, key);
      await tryUpdate(table, buildUpdate(key, { username: from, isMerged: undefined, ...indexKeys }, isUnchanged));
    },
  };
}

const parseMerge = (item: Item): Merge => parse(Merge, item, 'DatabaseError');

/** Whether the alias is the username itself. Before a merge, the customer item identifies it. */
const isPlainName = (alias: string, username: string): boolean => !isMd5(alias) && alias === username;
