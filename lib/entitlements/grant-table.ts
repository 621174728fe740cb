import { type Key, toShortDigest } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { dueIndexKeys } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Write } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, buildVersionCondition, tryUpdate, tryWrite, updateVersioned } from '../foundation/updates.ts';
import { Grant } from './grant.ts';

type GrantId = Pick<Grant, 'username' | 'grantId'>;

const parseGrant = (item: Item): Grant => parse(Grant, item, 'DatabaseError');
const toKey = (appName: string, { username, grantId }: GrantId): Key => keys.grantKey(appName, username, grantId);

/** Lists the grants of a customer, revoked and ended ones included, oldest first. */
export async function listStoredGrants({ table }: Service, appName: string, username: string): Promise<Grant[]> {
  const range = { partition: keys.customerKey.partition(appName, username), prefix: keys.grantKey.sortKey() };
  const grants = (await table.query(range)).map(parseGrant);
  return grants.sort((a, b) => a.createdAt - b.createdAt || (a.grantId < b.grantId ? -1 : 1));
}

export async function findGrant({ table }: Service, appName: string, id: GrantId): Promise<Grant | undefined> {
  const item = await table.get(toKey(appName, id));
  return item && parseGrant(item);
}

/** Returns false without a change if a grant with this id exists. */
export const createGrantIfAbsent = async ({ table }: Service, appName: string, grant: Grant): Promise<boolean> =>
  // A transaction: the SDK repeats it after a lost response without failing its own condition.
  await tryWrite(async () => await table.transact([buildPut(table.name, appName, grant, undefined)]));

/**
 * Replaces the grant with what `change` returns for the stored one. Calls `change` again if another writer interferes.
 * Returns undefined if the grant does not exist. A result equal to the argument is not written.
 */
export const updateGrant = async (
  service: Service,
  appName: string,
  id: GrantId,
  change: (grant: Grant) => Grant,
): Promise<Grant | undefined> =>
  await updateVersioned(
    async () => await findGrant(service, appName, id),
    change,
    async (grant) => await replace(service, appName, grant),
  );

/** Returns false if another writer has changed the grant. The lease of a due grant does not change its version. */
async function replace({ table }: Service, appName: string, grant: Grant): Promise<boolean> {
  const { until, changedAt, changedBy, revokedAt, revokedBy, endAnnouncedAt, eventId, version } = grant;
  const fields = { until, changedAt, changedBy, revokedAt, revokedBy, endAnnouncedAt, eventId, version };
  const condition = { expression: 'version = :before', values: { ':before': version - 1 } };
  const update = buildUpdate(toKey(appName, grant), { ...fields, ...toDueKeys(appName, grant) }, condition);
  return await tryUpdate(table, update);
}

/**
 * Moves a grant to another customer in one transaction. The original stays as an ended one, with `movedAt`. A grant
 * that was moved by the same merge before replaces its original. Returns false if another writer has changed one of
 * them.
 */
export async function moveGrant(
  service: Service,
  appName: string,
  grant: Grant,
  { to, mergeId, now }: { to: string; mergeId: string; now: EpochMillis },
): Promise<boolean> {
  const { table } = service;
  const { username, grantId, movedBy: _by, movedAt: _at, eventId: _event, ...moved } = grant;
  const original = grant.movedBy?.mergeId === mergeId ? grant.movedBy.grantId : grantId;
  const sameId = await findGrant(service, appName, { username: to, grantId: original });
  // The ids of two grants are equal if their idempotency keys are.
  const isFree = sameId === undefined || sameId.movedBy?.mergeId === mergeId;
  const targetId = isFree ? original : toMovedGrantId(username, grantId);
  const replaced = isFree ? sameId : await findGrant(service, appName, { username: to, grantId: targetId });
  const version = (replaced?.version ?? 0) + 1;
  const target: Grant = { ...moved, username: to, grantId: targetId, receivedAt: now, version };
  const movedBy = { mergeId, grantId: targetId };
  const source: Grant = { ...grant, movedAt: now, movedBy, version: grant.version + 1 };
  return await tryWrite(
    async () =>
      await table.transact([
        buildPut(table.name, appName, source, grant.version),
        buildPut(table.name, appName, target, replaced?.version),
      ]),
  );
}

const toMovedGrantId = (username: string, grantId: string): string =>
  `grant_${toShortDigest(`${username}\n${grantId}`, 24)}`;

/** Marks the end of a grant as announced at `now`, unless its end was moved since. */
export async function announceGrantEnd(
  service: Service,
  { appName, ...id }: GrantId & { appName: string },
  now: EpochMillis,
): Promise<void> {
  await updateGrant(service, appName, id, (grant) =>
    isAnnounced(grant) || (grant.until ?? Number.POSITIVE_INFINITY) > now ? grant : { ...grant, endAnnouncedAt: now },
  );
}

const isAnnounced = ({ endAnnouncedAt, revokedAt, movedAt }: Grant): boolean =>
  [endAnnouncedAt, revokedAt, movedAt].some((date) => date !== undefined);

/** Builds the write of a grant. `before` is the version that it replaces. */
function buildPut(TableName: string, appName: string, grant: Grant, before: number | undefined): Write {
  const { duePk, dueSk } = toDueKeys(appName, grant);
  const Item = { ...toKey(appName, grant), ...grant, ...(duePk !== undefined && { duePk, dueSk }) };
  return { Put: { TableName, Item, ...buildVersionCondition(before ?? 0) } };
}

/** Index keys of a grant whose end is still to be announced. */
function toDueKeys(appName: string, grant: Grant): Item {
  if (grant.until === undefined || isAnnounced(grant)) return { duePk: undefined, dueSk: undefined };
  return dueIndexKeys(toKey(appName, grant), grant.until);
}
