import type { GrantRepository } from '../entitlements/grant-repository.ts';
import { Grant } from '../entitlements/grant-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';
import { tryUpdate, tryWrite } from './try-update.ts';

const maxAttempts = 10;

export function createGrantRepository(table: Table): GrantRepository {
  const find: GrantRepository['find'] = async (appName, username, grantId) => {
    const item = await table.get(keys.grantKey(appName, username, grantId));
    return item && parse(Grant, item, 'DatabaseError');
  };
  const update: GrantRepository['update'] = async (appName, { username, grantId }, change) => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = await find(appName, username, grantId);
      if (!before) return undefined;
      const changed = change(before);
      if (changed === before) return before;
      const after = { ...changed, version: before.version + 1 };
      if (await replace(table, appName, after)) return after;
    }
    throw new ServiceError('Conflict', 'Other changes were made concurrently. Try again.');
  };
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
    async announceEnd({ appName, ...id }, now) {
      await update(appName, id, (grant) =>
        isAnnounced(grant) || (grant.until ?? Number.POSITIVE_INFINITY) > now
          ? grant
          : { ...grant, endAnnouncedAt: now },
      );
    },
  };
}

const isAnnounced = ({ endAnnouncedAt, revokedAt }: Grant): boolean =>
  endAnnouncedAt !== undefined || revokedAt !== undefined;

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
