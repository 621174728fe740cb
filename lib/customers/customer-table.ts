import * as v from 'valibot';
import { type Attempt, requireAll } from '../foundation/failed-items.ts';
import type { ShardedList } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { queryShards } from '../foundation/merge-shards.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { buildUpdate, retryOnConflict } from '../foundation/updates.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { buildCustomerSummary, type CustomerRow, CustomerSummary, type SummaryChange } from './customer-summary.ts';

/** A stored customer. A reader picks the attributes that it needs. */
export const CustomerItem = v.object({
  username: v.string(),
  summary: v.optional(CustomerSummary, { hasEverSubscribed: false }),
  summaryVersion: v.optional(v.number(), 0),
  createdAt: v.number(),
});
const StoredSummary = v.pick(CustomerItem, ['summary', 'summaryVersion']);

/** Returns the customers that exist, in the order of the usernames. */
export async function findCustomerRows(
  { table }: Service,
  appName: string,
  usernames: readonly string[],
  attempt: Attempt = requireAll,
): Promise<CustomerRow[]> {
  const items = await table.batchGet([...new Set(usernames)].map((username) => keys.customerKey(appName, username)));
  const parseItem = async (item: Item) =>
    await attempt(keys.customerKey.parsePartition(String(item.pk)).username, async () => parseCustomerItem(item));
  const rows = await Promise.all(items.map(parseItem));
  return rows.filter((row) => row !== undefined);
}

/** Returns the usernames that are customers, in the order of the usernames. */
export async function selectExistingCustomers(
  { table }: Service,
  appName: string,
  usernames: readonly string[],
): Promise<string[]> {
  const items = await table.batchGet(usernames.map((username) => keys.customerKey(appName, username)));
  return items.map(({ pk }) => keys.customerKey.parsePartition(String(pk)).username);
}

/** Returns the first usernames that begin with the text, or have another word that does, in any case. */
export async function findCustomerNames(
  { table }: Service,
  appName: string,
  { list, prefix, limit }: { list: ShardedList<'byKey'>; prefix: string; limit: number },
): Promise<string[]> {
  const partitions = list.partitions(appName);
  const range = { partitions, index: 'byKey', between: keys.namePrefixRange(prefix) } as const;
  const entries = await queryShards(table, range, limit);
  return entries.map(({ pk }) => keys.customerKey.parsePartition(String(pk)).username);
}

/**
 * Rebuilds the customer's summary from the purchases that `listPurchases` returns. Calls it again if another worker
 * interferes. Returns undefined if the customer does not exist. Throws `Conflict` after ten concurrent writes.
 */
export async function updateCustomerSummary(
  { table }: Service,
  appName: string,
  username: string,
  listPurchases: () => Promise<readonly Purchase[]>,
): Promise<SummaryChange | undefined> {
  const key = keys.customerKey(appName, username);
  return await retryOnConflict(async () => {
    const item = await table.get(key);
    if (!item) return undefined;
    const { summary: before, summaryVersion } = parse(StoredSummary, item, 'DatabaseError');
    const after = buildCustomerSummary(await listPurchases());
    // An unchanged summary is written, too: the new version makes a worker with older purchases fail its condition.
    // Customers that an earlier release created lack the keys of their names.
    const nameKeys = keys.customerNameKeys(appName, username);
    const fields = { summary: after, summaryVersion: summaryVersion + 1, ...nameKeys };
    await table.update(
      buildUpdate(key, fields, {
        expression: 'attribute_exists(pk) AND (attribute_not_exists(summaryVersion) OR summaryVersion = :version)',
        values: { ':version': summaryVersion },
      }),
    );
    return { before, after };
  });
}

/** Parses a customer item. Throws `DatabaseError` if it does not match the schema. */
export function parseCustomerItem(item: Item): CustomerRow {
  const { username, summary, createdAt } = parse(CustomerItem, item, 'DatabaseError');
  return { username, summary, createdAt };
}
