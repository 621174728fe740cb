import pMap from 'p-map';
import * as v from 'valibot';
import type { CustomerDataRepository, OnRemoved, StoredEvent } from '../customer-data/customer-data-repository.ts';
import { TokenItem } from '../customers/access-token-repository.ts';
import { CustomerSummary } from '../customers/customer-summary.ts';
import { Merge } from '../customers/merge-repository.ts';
import { eraseUserFromEvent } from '../events/erase-user-from-event.ts';
import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import { scanIndex } from '../foundation/scan-index.ts';
import type { Item, Table } from '../foundation/table.ts';
import { tryUpdate } from '../foundation/try-update.ts';
import { normalizeAlias, toMd5Alias } from '../purchases/user-aliases.ts';
import { splitIntoChunks } from '../shared/batches.ts';
import { parse } from '../shared/parse.ts';
import { toTagValue } from '../shared/redaction/redact-text.ts';
import { WebhookDelivery } from '../webhooks/delivery.ts';
import { packEvent, parseEventItem } from './event-item.ts';
import { findRawView } from './event-repository.ts';
import { parsePurchaseItem } from './purchase-item.ts';

const CustomerItem = v.object({
  createdAt: v.number(),
  summary: v.optional(CustomerSummary, { hasEverSubscribed: false }),
});

/** Number of events that are changed concurrently. */
const concurrency = 25;

/** Bounds that enclose all sort keys of a customer's partition: each starts with a letter. */
const allSortKeys = ['!', '~'] as const;

interface Options {
  /** Maximum number of items in a batch of a scan. Default: 1,000. */
  readonly pageSize?: number;
}

export function createCustomerDataRepository(table: Table, { pageSize = 1_000 }: Options = {}): CustomerDataRepository {
  /** Scans the keys of the items outside the customer's partition that name the customer. */
  async function* scanNamingKeys(appName: string, username: string, kind: keys.NamingKind) {
    const partition = keys.namingPartition(appName, username);
    for await (const entries of scanIndex(table, {
      partition,
      index: 'byUser',
      between: keys.namingRange(kind),
      pageSize,
    })) {
      yield entries.map(keys.toKey);
    }
  }
  async function* scanNamingItems(appName: string, username: string, kind: keys.NamingKind) {
    for await (const itemKeys of scanNamingKeys(appName, username, kind)) yield await table.batchGet(itemKeys);
  }
  async function* scanOwnPurchaseIds(appName: string, username: string) {
    for (const kind of ['claim', 'sharedClaim'] as const) {
      for await (const itemKeys of scanNamingKeys(appName, username, kind)) {
        yield itemKeys.map(({ pk }) => keys.parsePurchasePartition(pk));
      }
    }
    const links = {
      partition: keys.customerPartition(appName, username),
      between: keys.toPrefixRange(keys.ownedPurchasePrefix),
      pageSize,
    };
    for await (const items of scanIndex(table, links))
      yield items.map(({ sk }) => keys.parseOwnedPurchaseId(String(sk)));
  }
  const createNamingDeletion =
    (kind: keys.NamingKind) =>
    async (appName: string, username: string, onRemoved: OnRemoved): Promise<void> => {
      for await (const items of scanNamingItems(appName, username, kind)) {
        await table.batchDelete(items.map(keys.toKey));
        onRemoved(items.length);
      }
    };
  return {
    async find(appName, username) {
      const item = await table.get(keys.customerKey(appName, username));
      return item && parse(CustomerItem, item, 'DatabaseError');
    },
    scanOwnPurchaseIds,
    async *scanPurchaseIds(appName, username) {
      yield* scanOwnPurchaseIds(appName, username);
      // The latest change of a moved purchase can name the merged customer as a recipient.
      for await (const items of scanNamingItems(appName, username, 'merge')) {
        for (const merge of items.map((item) => parse(Merge, item, 'DatabaseError'))) {
          for await (const claims of scanMovedClaims(table, { appName, merge, pageSize }))
            yield claims.map(({ purchaseId }) => String(purchaseId));
        }
      }
      for await (const items of scanNamingItems(appName, username, 'delivery')) {
        yield items.flatMap((item) => parseDelivery(item).notification.purchaseId ?? []);
      }
    },
    async listAliasesOfPurchases(appName, purchaseIds) {
      const items = await table.batchGet(purchaseIds.map((id) => keys.purchaseKey(appName, id)));
      return [...new Set(items.flatMap((item) => parsePurchaseItem(item).userAliases))];
    },
    async listSavedAliases(appName, username) {
      const aliases: string[] = [];
      for await (const itemKeys of scanNamingKeys(appName, username, 'alias')) {
        aliases.push(...itemKeys.map(({ pk }) => keys.parseAliasPartition(pk)));
      }
      const md5Alias = toMd5Alias(username);
      const item = await table.get(keys.aliasKey(appName, md5Alias));
      return item?.username === username ? [...aliases, md5Alias] : aliases;
    },
    async findAliasUser(appName, alias) {
      const item = await table.get(keys.aliasKey(appName, normalizeAlias(alias)));
      return item && String(item.username);
    },
    async listUnclaimedPurchases(appName, alias) {
      const { pk: partition } = keys.aliasKey(appName, normalizeAlias(alias));
      const links = await table.query({ partition, prefix: keys.unclaimedPrefix });
      return links.map(({ sk }) => String(sk).slice(keys.unclaimedPrefix.length));
    },
    async *scanDeliveries(appName, username) {
      for await (const items of scanNamingItems(appName, username, 'delivery')) yield items.map(parseDelivery);
    },
    async *scanAccessTokens(appName, username) {
      for await (const items of scanNamingItems(appName, username, 'accessToken')) {
        yield items.map((item) => parse(TokenItem, item, 'DatabaseError'));
      }
    },
    async *scanEvents(appName, username) {
      for await (const ids of scanEventIds(table, { appName, username, pageSize })) {
        const items = await table.batchGet(ids.map((id) => keys.eventKey(appName, id)));
        yield await Promise.all(items.map(async (item) => await toStoredEvent(table, appName, item)));
      }
    },

    async deleteAlias(appName, alias, username) {
      const key = keys.aliasKey(appName, normalizeAlias(alias));
      if ((await table.get(key))?.username !== username) return false;
      await table.batchDelete([key]);
      return true;
    },
    deleteUnclaimedLink: async (appName, alias, purchaseId) =>
      await table.batchDelete([keys.unclaimedKey(appName, normalizeAlias(alias), purchaseId)]),
    async deleteOrphanedClaims(appName, username, onRemoved) {
      for (const kind of ['claim', 'sharedClaim'] as const) {
        for await (const items of scanNamingItems(appName, username, kind)) {
          const purchaseKeys = items.map(({ pk }) => ({ pk: String(pk), sk: keys.purchaseSortKey }));
          const existing = new Set((await table.batchGet(purchaseKeys)).map(({ pk }) => pk));
          const orphans = items.filter(({ pk }) => !existing.has(pk)).map(keys.toKey);
          await table.batchDelete(orphans);
          onRemoved(orphans.length);
        }
      }
    },
    deleteDeliveries: createNamingDeletion('delivery'),
    deleteAccessTokens: createNamingDeletion('accessToken'),
    async deleteMerges(appName, username, onRemoved) {
      for await (const items of scanNamingItems(appName, username, 'merge')) {
        for (const merge of items.map((item) => parse(Merge, item, 'DatabaseError'))) {
          onRemoved(await deleteMerge(table, { appName, merge, pageSize }));
        }
      }
    },
    async eraseFromEvents(appName, username, onRemoved) {
      for await (const entries of scanEventTags(table, { appName, username, pageSize })) {
        await pMap(
          entries,
          async ({ sk }) => {
            const eventId = keys.parseTagEventId(String(sk));
            if (await eraseFromEvent(table, { appName, username, eventId })) onRemoved(1);
          },
          { concurrency },
        );
        // After the events: the tags find them if this run is interrupted.
        await table.batchDelete(entries.map(keys.toKey));
      }
    },
    async deleteCustomer(appName, username, onRemoved) {
      const partition = keys.customerPartition(appName, username);
      const customerKey = keys.customerKey(appName, username);
      for await (const items of scanIndex(table, { partition, between: allSortKeys, pageSize })) {
        const links = items.filter(({ sk }) => sk !== customerKey.sk);
        await table.batchDelete(links.map(keys.toKey));
        onRemoved(links.length);
      }
      if (!(await table.get(customerKey))) return;
      await table.batchDelete([customerKey]);
      onRemoved(1);
    },
  };
}

interface MergeScan {
  readonly appName: string;
  readonly merge: Merge;
  readonly pageSize: number;
}

const scanMovedClaims = (table: Table, { appName, merge: { mergeId, to }, pageSize }: MergeScan) =>
  scanIndex(table, {
    partition: keys.customerPartition(appName, to),
    between: keys.toPrefixRange(keys.toMovedClaimPrefix(mergeId)),
    pageSize,
  });

/** Deletes the merge after everything that it leads to. Returns the number of items. */
async function deleteMerge(table: Table, scan: MergeScan): Promise<number> {
  const { appName, merge } = scan;
  const { mergeId, to } = merge;
  const aliases = await table.batchGet(merge.aliases.map((alias) => keys.aliasKey(appName, alias)));
  const moved = aliases.filter(({ username, isMerged }) => isMerged === true && username === to).map(keys.toKey);
  await table.batchDelete(moved);
  let count = moved.length;
  for await (const items of scanMovedClaims(table, scan)) {
    await table.batchDelete(items.map(keys.toKey));
    count += items.length;
  }
  await table.batchDelete([keys.mergeKey(appName, to, mergeId)]);
  return count + 1;
}

const parseDelivery = (item: Item): WebhookDelivery => parse(WebhookDelivery, item, 'DatabaseError');

interface EventScan {
  readonly appName: string;
  readonly username: string;
  readonly pageSize: number;
}

const scanEventTags = (table: Table, { appName, username, pageSize }: EventScan) =>
  scanIndex(table, { partition: keys.tagPartition(appName, toTagValue(username)), pageSize });

/** Events with a raw view are large: a batch of them must fit into memory. */
const eventBatchSize = 50;

async function* scanEventIds(table: Table, scan: EventScan): AsyncGenerator<string[]> {
  for await (const entries of scanEventTags(table, scan)) {
    const ids = entries.map(({ sk }) => keys.parseTagEventId(String(sk)));
    yield* splitIntoChunks(ids, eventBatchSize);
  }
}

async function toStoredEvent(table: Table, appName: string, item: Item): Promise<StoredEvent> {
  const event = await parseEventItem(item);
  const raw =
    (await findRawView([item])) ??
    (await findRawView(await table.batchGet([keys.rawEventKey(appName, event.eventId)])));
  return { event, ...(raw && { raw }) };
}

/** Returns whether the event existed. */
async function eraseFromEvent(
  table: Table,
  { appName, username, eventId }: { appName: string; username: string; eventId: string },
): Promise<boolean> {
  const key = keys.eventKey(appName, eventId);
  const item = await table.get(key);
  await table.batchDelete([keys.rawEventKey(appName, eventId)]);
  if (!item) return false;
  const fields = await packEvent(eraseUserFromEvent(await parseEventItem(item), username));
  // Conditional, because an event that its TTL has deleted since must not be written, and counted, again.
  return await tryUpdate(table, buildUpdate(key, fields, { expression: 'attribute_exists(pk)' }));
}
