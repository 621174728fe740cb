import * as v from 'valibot';
import { buildCustomerSummary, CustomerSummary } from '../customers/customer-summary.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

const CustomerItem = v.object({
  username: v.string(),
  summary: v.optional(CustomerSummary, { hasEverSubscribed: false }),
  summaryVersion: v.optional(v.number(), 0),
});

/** A customer as lists show them. */
export interface CustomerRow {
  readonly username: string;
  readonly summary: CustomerSummary;
}

/** What a summary said before it was worked out anew, and what it says now. */
export interface SummaryChange {
  readonly before: CustomerSummary;
  readonly after: CustomerSummary;
}

/** Customers of one table. */
export interface CustomerRepository {
  /** Those of the names that are known, in the order of the names. */
  findMany(appName: string, usernames: readonly string[]): Promise<CustomerRow[]>;
  /** Works the summary out from what `read` gives, again while others do the same. A name that is unknown stays so. */
  updateSummary(
    appName: string,
    username: string,
    read: () => Promise<readonly Purchase[]>,
  ): Promise<SummaryChange | undefined>;
}

export function createCustomerRepository(table: Table): CustomerRepository {
  return {
    async findMany(appName, usernames) {
      const items = await table.batchGet(
        [...new Set(usernames)].map((username) => keys.customerKey(appName, username)),
      );
      return items.map(parseCustomerItem);
    },
    async updateSummary(appName, username, read) {
      const Key = keys.customerKey(appName, username);
      for (let attempt = 1; ; attempt++) {
        const item = await table.get(Key);
        if (!item) return undefined;
        const { summary: before, summaryVersion } = parse(CustomerItem, item, 'DatabaseError');
        const summary = buildCustomerSummary(await read());
        // Also one that says the same is written: another worker with older purchases must find the version moved.
        try {
          await table.update({
            Key,
            UpdateExpression: 'SET summary = :summary, summaryVersion = :next',
            ConditionExpression:
              'attribute_exists(pk) AND (attribute_not_exists(summaryVersion) OR summaryVersion = :version)',
            ExpressionAttributeValues: { ':summary': summary, ':version': summaryVersion, ':next': summaryVersion + 1 },
          });
          return { before, after: summary };
        } catch (error) {
          const isConflict = error instanceof ServiceError && error.code === ('Conflict' satisfies ErrorCode);
          if (!isConflict || attempt === 10) throw error;
        }
      }
    },
  };
}

/** The item of a customer as lists show it. */
export function parseCustomerItem(item: Item): CustomerRow {
  const { username, summary } = parse(CustomerItem, item, 'DatabaseError');
  return { username, summary };
}
