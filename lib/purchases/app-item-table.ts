import { pMapIterable } from 'p-map';
import { allTimestamps, indexes, parseKeyTimestamp, timestampRange, toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import type { Service } from '../foundation/service.ts';
import type { StoredItem, StreamRecord } from '../foundation/stream-record.ts';
import { parseItemKey } from '../foundation/stream-record.ts';
import type { Item } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { toItemImage } from './purchase-item.ts';

/* Reads over all items of an app, for operators and the statistics. Every scan yields batches. */

/** Range from `startdate` (included) to `enddate` (excluded). */
interface CreatedRange {
  readonly startdate: EpochMillis;
  readonly enddate: EpochMillis;
}

/** Ids of rows in order of creation. */
export interface IdPage {
  readonly ids: readonly string[];
  /** Continues a scan after this page. */
  readonly position: string;
}

interface IdScanOptions {
  /** Position of an earlier scan, after which this one starts. */
  readonly after?: string | undefined;
  /** Number of ids of a page, at least 2. Default: 1,000. */
  readonly pageSize?: number;
}

/** Maximum number of partitions that are read concurrently. */
const concurrency = 25;

/** Finds the existing items with these keys. */
export async function findStoredItems(
  { table }: Service,
  itemKeys: readonly StreamRecord['key'][],
): Promise<StoredItem[]> {
  const unique = new Map(itemKeys.map((key) => [`${key.pk}\n${key.sk}`, key]));
  return (await table.batchGet([...unique.values()])).map(toStoredItem);
}

/**
 * Scans the items that statistics count: all purchases with their transactions and notifications, all changes of
 * credits, and the customers and events created in the range. Purchases are not limited, because a refund counts on
 * another day than its purchase.
 */
export async function* scanCountableItems(
  service: Service,
  appName: string,
  range: CreatedRange,
): AsyncIterable<StoredItem[]> {
  for await (const entries of scanShards(service.table, buildListRange(appName, 'purchases'))) {
    const partitions = pMapIterable(entries, async (entry) => await readPartition(service, entry), { concurrency });
    for await (const items of partitions) yield items.map(toStoredItem);
  }
  for await (const accounts of scanShards(service.table, buildAccountRange(appName))) {
    const histories = pMapIterable(accounts, async (account) => await readHistory(service, account), { concurrency });
    for await (const items of histories) yield items.map(toStoredItem);
  }
  const between = timestampRange(range);
  for await (const entries of scanShards(service.table, { ...buildListRange(appName, 'customers'), between })) {
    yield (await service.table.batchGet(entries.map(toKey))).map(toStoredItem);
  }
  const events = { partitions: keys.eventPartitions(appName), between: keys.toEventRange(between) };
  for await (const items of scanShards(service.table, events)) yield items.map(toStoredItem);
}

/**
 * Scans the ids of all purchases, or of those changed since a time, which is eventually consistent. A purchase that
 * changes during the scan can be repeated.
 */
export async function* scanPurchaseIds(
  { table }: Service,
  appName: string,
  updatedSince?: EpochMillis,
): AsyncIterable<string[]> {
  const range =
    updatedSince === undefined ? buildListRange(appName, 'purchases') : buildUpdatedRange(appName, updatedSince);
  for await (const entries of scanShards(table, range)) {
    yield entries.map(({ pk }) => keys.purchaseKey.parsePartition(String(pk)).purchaseId);
  }
}

/** Scans the usernames of all customers, or of those who have lost a purchase since a time. */
export async function* scanUsernames(
  { table }: Service,
  appName: string,
  lostSince?: EpochMillis,
): AsyncIterable<string[]> {
  const range = lostSince === undefined ? buildListRange(appName, 'customers') : buildLossRange(appName, lostSince);
  for await (const entries of scanShards(table, range)) {
    yield entries.map(({ pk }) => keys.customerKey.parsePartition(String(pk)).username);
  }
}

/** Scans the ids of all purchases or customers, by creation. */
export async function* scanIdPages(
  { table }: Service,
  appName: string,
  list: 'purchases' | 'customers',
  { after = allTimestamps[0], pageSize }: IdScanOptions = {},
): AsyncIterable<IdPage> {
  const parseId = (pk: string): string =>
    list === 'purchases'
      ? keys.purchaseKey.parsePartition(pk).purchaseId
      : keys.customerKey.parsePartition(pk).username;
  const getPosition = (entry: Item): string => String(entry[indexes.byCreated.sk]);
  const between = [after, allTimestamps[1]] as const;
  const range = { ...buildListRange(appName, list), between };
  for await (const page of scanShards(table, range, pageSize)) {
    // `between` includes both bounds.
    const entries = page.filter((entry) => getPosition(entry) !== after);
    const last = entries.at(-1);
    if (last) yield { ids: entries.map(({ pk }) => parseId(String(pk))), position: getPosition(last) };
  }
}

/** Returns the date of the oldest event within the retention. Undefined without events. */
export async function findOldestEventDate({ table }: Service, appName: string): Promise<EpochMillis | undefined> {
  const between = keys.toEventRange(allTimestamps);
  const oldest = await Promise.all(
    keys.eventPartitions(appName).map((partition) => table.query({ partition, between, limit: 1 })),
  );
  const dates = oldest.flat().map(({ sk }) => parseKeyTimestamp(String(sk).slice(keys.eventItemKey.sortKey().length)));
  return dates.sort((a, b) => a - b)[0];
}

async function readPartition({ table }: Service, { pk }: Item): Promise<Item[]> {
  return await table.query({ partition: String(pk) });
}

/** Reads the changes of a customer's credits in an account, whose sort key is `B#<account>`. */
async function readHistory({ table }: Service, { pk, sk }: Item): Promise<Item[]> {
  const account = String(sk).slice(keys.creditAccountKey.sortKey().length);
  return await table.query({ partition: String(pk), prefix: `${keys.creditEntryKey.sortKey(account)}` });
}

const buildAccountRange = (appName: string) =>
  ({
    partitions: keys.creditAccountList.partitions(appName),
    index: 'byCreated',
    between: allTimestamps,
  }) as const;

const buildListRange = (appName: string, list: 'purchases' | 'customers') =>
  ({
    partitions: keys.createdLists[list].partitions(appName),
    index: 'byCreated',
    between: allTimestamps,
  }) as const;

const buildUpdatedRange = (appName: string, startdate: EpochMillis) =>
  ({
    partitions: keys.updatedPurchaseList.partitions(appName),
    index: 'byKey',
    between: timestampRange({ startdate }),
  }) as const;

const buildLossRange = (appName: string, startdate: EpochMillis) =>
  ({
    partitions: keys.formerOwnerList.partitions(appName),
    index: 'byUser',
    between: timestampRange({ startdate }),
  }) as const;

function toStoredItem(item: Item): StoredItem {
  const { kind } = parseItemKey(toKey(item));
  return { kind, item: toItemImage(kind, item) };
}
