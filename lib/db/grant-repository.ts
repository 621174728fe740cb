import { createHash } from 'node:crypto';
import type { GrantRepository } from '../entitlements/grant-repository.ts';
import { Grant } from '../entitlements/grant-repository.ts';
import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import type { Item, Table, Write } from '../foundation/table.ts';
import { tryUpdate, tryWrite } from '../foundation/try-update.ts';
import { updateVersioned } from '../foundation/update-versioned.ts';
import { parse } from '../shared/parse.ts';

export function createGrantRepository(table: Table): GrantRepository {
  const find: GrantRepository['find'] = async (appName, username, grantId) => {
    const item = await table.get(keys.grantKey(appName, username, grantId));
    return item && parse(Grant, item, 'DatabaseError');
  };
  const update: GrantRepository['update'] = async (appName, { username, grantId }, change) =>
    await updateVersioned(
      async () => await find(appName, username, grantId),
      change,
      async (grant) => await replace(table, appName, grant),
    );
  return {
    find,
    update,
    async list(appName, username) {
      const range = { partition: keys.customerPartition(appName, username), prefix: keys.grantPrefix };
      const grants = (await table.query(range)).map((item) => parse(Grant, item, 'DatabaseError'));
      return grants.sort((a, b) => a.createdAt - b.createdAt || (a.grantId < b.grantId ? -1 : 1));
    },
    createIfAbsent: async (appName, grant) =>
      await tryWrite(async () => {
        // A transaction: the SDK repeats it after a lost response without failing its own condition.
        const Item = {
          ...keys.grantKey(appName, grant.username, grant.grantId),
          ...grant,
          ...toDueKeys(appName, grant),
        };
        await table.transact([
          { Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' } },
        ]);
      }),
    async move(appName, grant, { to, mergeId, now }) {
      const { username, grantId, movedBy: _by, movedAt: _at, ...moved } = grant;
      const original = grant.movedBy?.mergeId === mergeId ? grant.movedBy.grantId : grantId;
      const sameId = await find(appName, to, original);
      // The ids of two grants are equal if their idempotency keys are.
      const isFree = sameId === undefined || sameId.movedBy?.mergeId === mergeId;
      const targetId = isFree ? original : toMovedGrantId(username, grantId);
      const replaced = isFree ? sameId : await find(appName, to, targetId);
      const target: Grant = {
        ...moved,
        username: to,
        grantId: targetId,
        receivedAt: now,
        version: (replaced?.version ?? 0) + 1,
      };
      const source: Grant = {
        ...grant,
        movedAt: now,
        movedBy: { mergeId, grantId: targetId },
        version: grant.version + 1,
      };
      return await tryWrite(
        async () =>
          await table.transact([
            buildPut(table.name, appName, { grant: source, before: grant.version }),
            buildPut(table.name, appName, { grant: target, before: replaced?.version }),
          ]),
      );
    },
    async announceEnd({ appName, ...id }, now) {
      await update(appName, id, (grant) =>
        isAnnounced(grant) || (grant.until ?? Number.POSITIVE_INFINITY) > now
          ? grant
          : { ...grant, endAnnouncedAt: now },
      );
    },
  };
}

const isAnnounced = ({ endAnnouncedAt, revokedAt, movedAt }: Grant): boolean =>
  [endAnnouncedAt, revokedAt, movedAt].some((date) => date !== undefined);

const toMovedGrantId = (username: string, grantId: string): string =>
  `grant_${createHash('sha256').update(`${username}\n${grantId}`).digest('hex').slice(0, 24)}`;

/** Builds the write of a grant. `before` is the version that it replaces. */
function buildPut(
  tableName: string,
  appName: string,
  { grant, before }: { readonly grant: Grant; readonly before: number | undefined },
): Write {
  const { duePk, dueSk } = toDueKeys(appName, grant);
  return {
    Put: {
      TableName: tableName,
      Item: {
        ...keys.grantKey(appName, grant.username, grant.grantId),
        ...grant,
        ...(duePk !== undefined && { duePk, dueSk }),
      },
      ...(before === undefined
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : { ConditionExpression: 'version = :before', ExpressionAttributeValues: { ':before': before } }),
    },
  };
}

/** Index keys of a grant whose end is still to be announced. */
function toDueKeys(appName: string, grant: Grant): Item {
  if (grant.until === undefined || isAnnounced(grant)) return { duePk: undefined, dueSk: undefined };
  return keys.dueIndexKeys(keys.grantKey(appName, grant.username, grant.grantId), grant.until);
}

/** Returns false if another writer has changed the grant. The lease of a due grant does not change its version. */
async function replace(table: Table, appName: string, grant: Grant): Promise<boolean> {
  const { until, changedAt, changedBy, revokedAt, revokedBy, endAnnouncedAt, version } = grant;
  const fields = { until, changedAt, changedBy, revokedAt, revokedBy, endAnnouncedAt, version };
  const condition = { expression: 'version = :before', values: { ':before': version - 1 } };
  const key = keys.grantKey(appName, grant.username, grant.grantId);
  return await tryUpdate(table, buildUpdate(key, { ...fields, ...toDueKeys(appName, grant) }, condition));
}
