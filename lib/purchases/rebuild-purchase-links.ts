import pMap from 'p-map';
import { splitIntoChunks } from '../foundation/batches.ts';
import { sum } from '../foundation/collections.ts';
import { attemptItems, type FailedItem } from '../foundation/failed-items.ts';
import { allTimestamps, type Key, toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import { type Item, maxTransactionWrites, type Table, type Write } from '../foundation/table.ts';
import { buildVersionCondition, retryOnConflict, tryWrite } from '../foundation/updates.ts';
import { isPurchaseLink, listLinks, parseOwnedPurchaseId, selectMissing } from './owned-purchase-links.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import { parseTransactionItem } from './transaction-item.ts';

interface RebuildLinksResult {
  readonly checkedPurchases: number;
  readonly addedLinks: number;
  readonly deletedLinks: number;
  readonly failed: readonly FailedItem[];
}

/** Number of purchases, or customers, that are processed concurrently. */
const concurrency = 8;

/**
 * Adds the missing links of all purchases of an app, then deletes the stale ones: links of earlier versions of the
 * service, and of changes that crashed. Idempotent and safe to run concurrently with the service.
 */
export async function rebuildPurchaseLinks(
  { table }: Service,
  appName: string,
  reportProgress?: ReportProgress,
): Promise<RebuildLinksResult> {
  let [checkedPurchases, addedLinks, deletedLinks] = [0, 0, 0];
  const { attempt, failed } = attemptItems({ worker: 'rebuild-links', app: appName });
  const scanList = (list: 'purchases' | 'customers') =>
    scanShards(table, {
      partitions: keys.createdLists[list].partitions(appName),
      index: 'byCreated',
      between: allTimestamps,
    });
  for await (const entries of scanList('purchases')) {
    const partitions = [...new Set(entries.map(({ pk }) => String(pk)))];
    const results = await pMap(
      partitions,
      async (partition) =>
        await attempt(
          keys.purchaseKey.parsePartition(partition).purchaseId,
          async () => await retryOnConflict(async () => await addLinks(table, appName, partition)),
        ),
      { concurrency },
    );
    const added = results.filter((result) => result !== undefined);
    checkedPurchases += added.length;
    reportProgress?.(checkedPurchases);
    addedLinks += sum(added);
  }
  for await (const entries of scanList('customers')) {
    const partitions = [...new Set(entries.map(({ pk }) => String(pk)))];
    const deleted = await pMap(
      partitions,
      async (partition) => {
        const { username } = keys.customerKey.parsePartition(partition);
        return await attempt(username, async () => await deleteStaleLinks(table, appName, partition));
      },
      { concurrency },
    );
    deletedLinks += sum(deleted.map((count = 0) => count));
  }
  return { checkedPurchases, addedLinks, deletedLinks, failed };
}

/**
 * Adds the missing links of one purchase. Returns their number. Throws `Conflict` if another writer changes the
 * purchase.
 */
async function addLinks(table: Table, appName: string, partition: string): Promise<number> {
  const items = await table.query({ partition });
  const purchaseItem = items.find(({ sk }) => sk === keys.purchaseKey.sortKey());
  if (!purchaseItem) return 0;
  const { purchase, entitledUsers, version } = parsePurchaseItem(purchaseItem);
  const transactions = items
    .filter(({ sk }) => String(sk).startsWith(keys.transactionKey.sortKey()))
    .map(parseTransactionItem);
  const links = entitledUsers.flatMap((username) => {
    const pk = keys.customerKey.partition(appName, username);
    return [...listLinks(purchase, transactions)].map(([sk, attributes]) => ({ pk, sk, version, ...attributes }));
  });
  const missing = await selectMissing(table, links);
  const isUnchanged = buildVersionCheck(table, toKey(purchaseItem), version);
  for (const chunk of splitIntoChunks(missing, maxTransactionWrites - 1)) {
    await table.transact([isUnchanged, ...chunk.map((Item) => ({ Put: { TableName: table.name, Item } }))]);
  }
  return missing.length;
}

/**
 * Deletes the stale links of one customer. Skips links that another writer changes. Returns the number of deleted
 * links.
 */
async function deleteStaleLinks(table: Table, appName: string, partition: string): Promise<number> {
  const username = keys.customerKey.parsePartition(partition).username;
  const links = (await table.query({ partition })).filter(({ sk }) => isPurchaseLink(String(sk)));
  const purchaseIds = [...new Set(links.map(getPurchaseId))];
  let deleted = 0;
  for (const chunk of splitIntoChunks(purchaseIds, maxTransactionWrites)) {
    const items = await table.batchGet(chunk.map((id) => keys.purchaseKey(appName, id)));
    const stored = new Map(items.map((item) => [String(item.pk), parsePurchaseItem(item)]));
    for (const purchaseId of chunk) {
      const key = keys.purchaseKey(appName, purchaseId);
      const own = links.filter((link) => getPurchaseId(link) === purchaseId);
      const transactions = (await table.query({ partition: key.pk, prefix: keys.transactionKey.sortKey() })).map(
        parseTransactionItem,
      );
      const purchase = stored.get(key.pk);
      const version = purchase?.version ?? 0;
      const current = purchase?.entitledUsers.includes(username)
        ? listLinks(purchase.purchase, transactions)
        : new Map<string, Item>();
      // A link with a later version belongs to a change that is being written.
      const stale = own.filter((link) => !current.has(String(link.sk)) && getVersion(link) <= version);
      const outcomes = await Promise.all(
        stale.map(
          async (link) =>
            await tryWrite(
              async () => await table.transact([buildVersionCheck(table, key, version), buildDelete(table, link)]),
            ),
        ),
      );
      deleted += outcomes.filter(Boolean).length;
    }
  }
  return deleted;
}

const getPurchaseId = ({ sk, purchaseId }: Item): string =>
  typeof purchaseId === 'string' ? purchaseId : parseOwnedPurchaseId(String(sk));

/** Returns the version of the change that wrote the link. 0 for a link of an earlier version of the service. */
const getVersion = ({ version }: Item): number => (typeof version === 'number' ? version : 0);

const buildVersionCheck = (table: Table, Key: Key, version: number): Write => ({
  ConditionCheck: {
    TableName: table.name,
    Key: { ...Key },
    ...buildVersionCondition(version),
  },
});

const buildDelete = (table: Table, link: Item): Write => ({
  Delete: {
    TableName: table.name,
    Key: { ...toKey(link) },
    ...(getVersion(link) === 0
      ? { ConditionExpression: 'attribute_not_exists(version)' }
      : { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': getVersion(link) } }),
  },
});
