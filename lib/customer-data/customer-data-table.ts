import pMap from 'p-map';
import * as v from 'valibot';
import { type ActiveGrant, TokenItem } from '../customers/access-token-table.ts';
import type { CustomerSummary } from '../customers/customer-summary.ts';
import { CustomerItem } from '../customers/customer-table.ts';
import { Merge } from '../customers/merge.ts';
import { listMergesOf, saveMerge } from '../customers/merge-table.ts';
import { eraseUserFromEvent } from '../events/erase-user-from-event.ts';
import type { EventRecord, RawEvent } from '../events/event.ts';
import { findRawView, packEvent, parseEventItem } from '../events/event-table.ts';
import { splitIntoChunks } from '../foundation/batches.ts';
import { indexes, toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { toTagValue } from '../foundation/redaction/redact-text.ts';
import { scanIndex } from '../foundation/scan-index.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import { parseOwnedPurchaseId } from '../purchases/owned-purchase-links.ts';
import { parsePurchaseItem } from '../purchases/purchase-item.ts';
import { normalizeAlias, toMd5Alias } from '../purchases/user-aliases.ts';
import { WebhookDelivery } from '../webhooks/delivery.ts';

/*
 * All data of one customer, for exporting and erasing it. Every scan yields batches. Reads of an index are eventually
 * consistent: an item of the last seconds can be missing.
 */

/** A customer as stored. */
export interface StoredCustomer {
  readonly createdAt: EpochMillis;
  readonly summary: CustomerSummary;
  readonly hasLostPurchase: boolean;
}

/** An event with its raw view, if it has one. */
export interface StoredEvent {
  readonly event: EventRecord;
  readonly raw?: RawEvent;
}

/** Receives the number of items after each step of a removal, so that they are counted if a later step fails. */
export type OnRemoved = (count: number) => void;

const ExportedCustomer = v.pick(CustomerItem, ['createdAt', 'summary']);

/** Number of events that are changed concurrently. */
const concurrency = 25;

/** Bounds that enclose all sort keys of a customer's partition: each starts with a letter. */
const allSortKeys = ['!', '~'] as const;

/** Tests lower the maximum number of items in a batch of a scan. */
export const scanBounds = perContainer(() => ({ pageSize: 1_000 }));

export async function findStoredCustomer(
  { table }: Service,
  appName: string,
  username: string,
): Promise<StoredCustomer | undefined> {
  const item = await table.get(keys.customerKey(appName, username));
  const hasLostPurchase = item?.[indexes.byUser.sk] !== undefined;
  return item && { ...parse(ExportedCustomer, item, 'DatabaseError'), hasLostPurchase };
}

/** Scans the ids of the purchases that the customer owns or has claimed. An id can be repeated. */
export async function* scanOwnPurchaseIds(
  service: Service,
  appName: string,
  username: string,
): AsyncIterable<string[]> {
  for (const kind of ['claim', 'sharedClaim'] as const) {
    for await (const itemKeys of scanNamingKeys(service, appName, username, kind)) {
      yield itemKeys.map(({ pk }) => keys.purchaseKey.parsePartition(pk).purchaseId);
    }
  }
  const links = {
    partition: keys.customerKey.partition(appName, username),
    between: keys.ownedPurchaseKey.range(),
    ...scanBounds(service),
  };
  for await (const items of scanIndex(service.table, links))
    yield items.map(({ sk }) => parseOwnedPurchaseId(String(sk)));
}

/**
 * Scans the ids of the purchases that the customer owns, has claimed or got webhooks about. An id can be repeated.
 */
export async function* scanLinkedPurchaseIds(
  service: Service,
  appName: string,
  username: string,
): AsyncIterable<string[]> {
  yield* scanOwnPurchaseIds(service, appName, username);
  // The latest change of a moved purchase can name the merged customer as a recipient.
  for await (const items of scanNamingItems(service, appName, username, 'merge')) {
    for (const merge of items.map((item) => parse(Merge, item, 'DatabaseError'))) {
      for await (const claims of scanMovedClaims(service.table, { appName, merge, ...scanBounds(service) }))
        yield claims.map(({ purchaseId }) => String(purchaseId));
    }
  }
  for await (const items of scanNamingItems(service, appName, username, 'delivery')) {
    yield items.flatMap((item) => parseDelivery(item).notification.purchaseId ?? []);
  }
}

/** Lists the user aliases of purchases, each once. */
export async function listAliasesOfPurchases(
  { table }: Service,
  appName: string,
  purchaseIds: readonly string[],
): Promise<string[]> {
  const items = await table.batchGet(purchaseIds.map((id) => keys.purchaseKey(appName, id)));
  return [...new Set(items.flatMap((item) => parsePurchaseItem(item).userAliases))];
}

/** Lists the saved aliases of the customer, normalized. */
export async function listSavedAliases(service: Service, appName: string, username: string): Promise<string[]> {
  const aliases: string[] = [];
  for await (const itemKeys of scanNamingKeys(service, appName, username, 'alias')) {
    aliases.push(...itemKeys.map(({ pk }) => keys.aliasKey.parsePartition(pk).alias));
  }
  const md5Alias = toMd5Alias(username);
  const item = await service.table.get(keys.aliasKey(appName, md5Alias));
  return item?.username === username ? [...aliases, md5Alias] : aliases;
}

/** Returns the username that an alias was saved for. */
export async function findAliasUser({ table }: Service, appName: string, alias: string): Promise<string | undefined> {
  const item = await table.get(keys.aliasKey(appName, normalizeAlias(alias)));
  return item && String(item.username);
}

/** Lists the ids of all purchases that are filed under an alias. */
export async function listUnclaimedByAlias({ table }: Service, appName: string, alias: string): Promise<string[]> {
  const { pk: partition } = keys.aliasKey(appName, normalizeAlias(alias));
  const links = await table.query({ partition, prefix: keys.unclaimedKey.sortKey() });
  return links.map(({ sk }) => keys.unclaimedKey.parseSortKey(String(sk)).purchaseId);
}

export async function* scanCustomerDeliveries(
  service: Service,
  appName: string,
  username: string,
): AsyncIterable<WebhookDelivery[]> {
  for await (const items of scanNamingItems(service, appName, username, 'delivery')) yield items.map(parseDelivery);
}

/** Scans the access tokens of checkouts that name the customer. */
export async function* scanAccessTokens(
  service: Service,
  appName: string,
  username: string,
): AsyncIterable<ActiveGrant[]> {
  for await (const items of scanNamingItems(service, appName, username, 'accessToken')) {
    yield items.map((item) => parse(TokenItem, item, 'DatabaseError'));
  }
}

/** Scans the events that name the customer, oldest first. */
export async function* scanCustomerEvents(
  service: Service,
  appName: string,
  username: string,
): AsyncIterable<StoredEvent[]> {
  const { table } = service;
  for await (const ids of scanEventIds(table, { appName, username, ...scanBounds(service) })) {
    const items = await table.batchGet(ids.map((id) => keys.eventKey(appName, id)));
    yield await Promise.all(items.map(async (item) => await toStoredEvent(table, appName, item)));
  }
}

/** Deletes an alias that was saved for the customer. Returns whether there was one. */
export async function deleteAlias(
  { table }: Service,
  appName: string,
  alias: string,
  username: string,
): Promise<boolean> {
  const key = keys.aliasKey(appName, normalizeAlias(alias));
  if ((await table.get(key))?.username !== username) return false;
  await table.batchDelete([key]);
  return true;
}

export async function deleteUnclaimedLink(
  { table }: Service,
  appName: string,
  alias: string,
  purchaseId: string,
): Promise<void> {
  await table.batchDelete([keys.unclaimedKey(appName, normalizeAlias(alias), purchaseId)]);
}

/** Deletes the claims of the customer to purchases that do not exist: an interrupted write can leave them. */
export async function deleteOrphanedClaims(
  service: Service,
  appName: string,
  username: string,
  onRemoved: OnRemoved,
): Promise<void> {
  for (const kind of ['claim', 'sharedClaim'] as const) {
    for await (const items of scanNamingItems(service, appName, username, kind)) {
      const purchaseKeys = items.map(({ pk }) => ({ pk: String(pk), sk: keys.purchaseKey.sortKey() }));
      const existing = new Set((await service.table.batchGet(purchaseKeys)).map(({ pk }) => pk));
      const orphans = items.filter(({ pk }) => !existing.has(pk)).map(toKey);
      await service.table.batchDelete(orphans);
      onRemoved(orphans.length);
    }
  }
}

/** Deletes the log of merges of the customer into others, and the aliases that they and later merges have moved. */
export async function deleteMerges(
  service: Service,
  appName: string,
  username: string,
  onRemoved: OnRemoved,
): Promise<void> {
  for await (const items of scanNamingItems(service, appName, username, 'merge')) {
    for (const merge of items.map((item) => parse(Merge, item, 'DatabaseError'))) {
      for (const later of await listLaterMerges(service, appName, merge)) {
        onRemoved(await deleteMergedAliases(service.table, appName, { ...later, aliases: merge.aliases }));
        const aliases = later.aliases.filter((alias) => !merge.aliases.includes(alias));
        await saveMerge(service, appName, { ...later, aliases });
      }
      onRemoved(await deleteMerge(service.table, { appName, merge, ...scanBounds(service) }));
    }
  }
}

/** Removes the username, the raw view and the tag of the username from events. Counts the changed events. */
export async function eraseFromEvents(
  service: Service,
  appName: string,
  username: string,
  onRemoved: OnRemoved,
): Promise<void> {
  const { table } = service;
  for await (const entries of scanEventTags(table, { appName, username, ...scanBounds(service) })) {
    await pMap(
      entries,
      async ({ sk }) => {
        const eventId = keys.tagKey.parseSortKey(String(sk)).eventId;
        if (await eraseFromEvent(table, { appName, username, eventId })) onRemoved(1);
      },
      { concurrency },
    );
    // After the events: the tags find them if this run is interrupted.
    await table.batchDelete(entries.map(toKey));
  }
}

/** Deletes the links of the customer, then the customer. */
export async function deleteCustomer(
  service: Service,
  appName: string,
  username: string,
  onRemoved: OnRemoved,
): Promise<void> {
  const { table } = service;
  const partition = keys.customerKey.partition(appName, username);
  const customerKey = keys.customerKey(appName, username);
  for await (const items of scanIndex(table, { partition, between: allSortKeys, ...scanBounds(service) })) {
    const links = items.filter(({ sk }) => sk !== customerKey.sk);
    await table.batchDelete(links.map(toKey));
    onRemoved(links.length);
  }
  if (!(await table.get(customerKey))) return;
  await table.batchDelete([customerKey]);
  onRemoved(1);
}

/** Scans the keys of the items outside the customer's partition that name the customer. */
async function* scanNamingKeys(service: Service, appName: string, username: string, kind: keys.NamingKind) {
  const partition = keys.namingKeys.partition(appName, username);
  for await (const entries of scanIndex(service.table, {
    partition,
    index: 'byUser',
    between: keys.namingRange(kind),
    ...scanBounds(service),
  })) {
    yield entries.map(toKey);
  }
}

async function* scanNamingItems(service: Service, appName: string, username: string, kind: keys.NamingKind) {
  for await (const itemKeys of scanNamingKeys(service, appName, username, kind))
    yield await service.table.batchGet(itemKeys);
}

async function deleteNamingItems(
  service: Service,
  appName: string,
  username: string,
  { kind, onRemoved }: { kind: keys.NamingKind; onRemoved: OnRemoved },
): Promise<void> {
  for await (const items of scanNamingItems(service, appName, username, kind)) {
    await service.table.batchDelete(items.map(toKey));
    onRemoved(items.length);
  }
}

export const deleteCustomerDeliveries = async (
  service: Service,
  appName: string,
  username: string,
  onRemoved: OnRemoved,
): Promise<void> => await deleteNamingItems(service, appName, username, { kind: 'delivery', onRemoved });

/** Deletes the access tokens of checkouts that name the customer. */
export const deleteAccessTokens = async (
  service: Service,
  appName: string,
  username: string,
  onRemoved: OnRemoved,
): Promise<void> => await deleteNamingItems(service, appName, username, { kind: 'accessToken', onRemoved });

interface MergeScan {
  readonly appName: string;
  readonly merge: Merge;
  readonly pageSize: number;
}

const scanMovedClaims = (table: Table, { appName, merge: { mergeId, to }, pageSize }: MergeScan) =>
  scanIndex(table, {
    partition: keys.customerKey.partition(appName, to),
    between: keys.movedClaimKey.range(mergeId),
    pageSize,
  });

/** Lists the merges that have moved aliases of an earlier merge on, the last one first. */
async function listLaterMerges(
  service: Service,
  appName: string,
  { to, aliases }: Merge,
  known: readonly Merge[] = [],
): Promise<Merge[]> {
  const isLater = (merge: Merge): boolean =>
    merge.aliases.some((alias) => aliases.includes(alias)) &&
    !known.some(({ mergeId, to: receiver }) => mergeId === merge.mergeId && receiver === merge.to);
  const next = (await listMergesOf(service, appName, to)).filter(isLater);
  const later: Merge[] = [];
  for (const merge of next)
    later.push(...(await listLaterMerges(service, appName, { ...merge, aliases }, [...known, ...next])), merge);
  return later;
}

/** Deletes the aliases that a merge has moved. Returns their number. */
async function deleteMergedAliases(table: Table, appName: string, { to, aliases }: Merge): Promise<number> {
  const items = await table.batchGet(aliases.map((alias) => keys.aliasKey(appName, alias)));
  const moved = items.filter(({ username, isMerged }) => isMerged === true && username === to).map(toKey);
  await table.batchDelete(moved);
  return moved.length;
}

/** Deletes the merge after everything that it leads to. Returns the number of items. */
async function deleteMerge(table: Table, scan: MergeScan): Promise<number> {
  const { appName, merge } = scan;
  const { mergeId, to } = merge;
  let count = await deleteMergedAliases(table, appName, merge);
  for await (const items of scanMovedClaims(table, scan)) {
    await table.batchDelete(items.map(toKey));
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
  scanIndex(table, { partition: keys.tagKey.partition(appName, toTagValue(username)), pageSize });

/** Events with a raw view are large: a batch of them must fit into memory. */
const eventBatchSize = 50;

async function* scanEventIds(table: Table, scan: EventScan): AsyncGenerator<string[]> {
  for await (const entries of scanEventTags(table, scan)) {
    const ids = entries.map(({ sk }) => keys.tagKey.parseSortKey(String(sk)).eventId);
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

/** Returns false for an event that does not exist. */
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
