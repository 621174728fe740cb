import * as v from 'valibot';
import type { CustomerRepository } from '../customers/customer-repository.ts';
import { buildCustomerSummary, type CustomerRow, CustomerSummary } from '../customers/customer-summary.ts';
import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import { queryShards } from '../foundation/merge-shards.ts';
import type { Item, Table } from '../foundation/table.ts';
import { parse } from '../shared/parse.ts';
import { retryOnConflict } from '../shared/retry.ts';

const CustomerItem = v.object({
  username: v.string(),
  summary: v.optional(CustomerSummary, { hasEverSubscribed: false }),
  summaryVersion: v.optional(v.number(), 0),
  createdAt: v.exactOptional(v.number()),
});

export function createCustomerRepository(table: Table): CustomerRepository {
  return {
    async findMany(appName, usernames) {
      const items = await table.batchGet(
        [...new Set(usernames)].map((username) => keys.customerKey(appName, username)),
      );
      return items.map(parseCustomerItem);
    },
    async selectExisting(appName, usernames) {
      const items = await table.batchGet(usernames.map((username) => keys.customerKey(appName, username)));
      return items.map(({ pk }) => keys.parseCustomerPartition(String(pk)));
    },
    async findNames(appName, prefix, limit) {
      const partitions = keys.customerNamePartitions(appName);
      const range = { partitions, index: 'byKey', between: keys.namePrefixRange(prefix) } as const;
      const entries = await queryShards(table, range, limit);
      return entries.map(({ pk }) => keys.parseCustomerPartition(String(pk)));
    },
    async updateSummary(appName, username, listPurchases) {
      const key = keys.customerKey(appName, username);
      return await retryOnConflict(async () => {
        const item = await table.get(key);
        if (!item) return undefined;
        const { summary: before, summaryVersion } = parse(CustomerItem, item, 'DatabaseError');
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
    },
  };
}

/** Parses a customer item. Throws `DatabaseError` if it does not match the schema. */
export function parseCustomerItem(item: Item): CustomerRow {
  const { username, summary, createdAt } = parse(CustomerItem, item, 'DatabaseError');
  return { username, summary, ...(createdAt !== undefined && { createdAt }) };
}
