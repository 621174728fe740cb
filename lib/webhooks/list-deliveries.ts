import { parseAttemptEventId } from '../foundation/event-id.ts';
import { indexes, timestampRange } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { queryShards } from '../foundation/merge-shards.ts';
import { parse } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import { toTagValue } from '../foundation/redaction/redact-text.ts';
import type { Service } from '../foundation/service.ts';
import type { Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { WebhookDelivery } from './delivery.ts';
import type { DeliveryQuery } from './delivery-table.ts';
import { toDisplayUrl } from './display-url.ts';

interface DeliveryEntry {
  readonly sortKey: string;
  readonly deliveryId: string | undefined;
  /** Set if the entry is an attempt. */
  readonly attemptedAt?: EpochMillis;
}

/** Reads about 100 KB of index entries and the deliveries that they name. */
const maxScanned = 1_000;

/** Lists deliveries, newest first, from the shortest list that contains them. */
export async function listDeliveryPage(
  { table }: Service,
  appName: string,
  query: DeliveryQuery,
): Promise<CursorPage<WebhookDelivery>> {
  const readBefore = query.username === undefined ? readDeliveries : readAttempts;
  return await readCursorPage<DeliveryEntry, WebhookDelivery>(
    {
      readBefore: async (position, limit) => await readBefore(table, appName, { query, position, limit }),
      load: async (entries) => {
        const deliveries = await loadDeliveries(table, appName, entries);
        return entries.map((entry) => {
          const delivery = deliveries.get(entry.deliveryId ?? '');
          return delivery && isLatestEntry(entry, delivery) && matches(delivery, query) ? delivery : undefined;
        });
      },
    },
    { limit: query.limit, cursor: query.cursor, maxScanned },
  );
}

interface ReadRange {
  readonly query: DeliveryQuery;
  readonly position: string | undefined;
  readonly limit: number;
}

/** Reads the list of failed deliveries if the state requires it, otherwise the list of all deliveries. */
async function readDeliveries(
  table: Table,
  appName: string,
  { query, position, limit }: ReadRange,
): Promise<DeliveryEntry[]> {
  const isFailed = query.state === 'dead' || query.state === 'pending';
  const index = isFailed ? 'byCreated' : 'byKey';
  const partitions = isFailed ? keys.openDeliveryList.partitions(appName) : keys.deliveryList.partitions(appName);
  const sortKeys = await readSortKeys(table, { partitions, index, position, limit, range: query });
  return sortKeys.map((sortKey) => ({ sortKey, deliveryId: sortKey.slice(sortKey.indexOf('#') + 1) }));
}

/** Reads the events that are tagged with the customer. Ids of attempts name their delivery. */
async function readAttempts(
  table: Table,
  appName: string,
  { query, position, limit }: ReadRange,
): Promise<DeliveryEntry[]> {
  const partitions = [keys.tagKey.partition(appName, toTagValue(query.username ?? ''))];
  // An attempt is not earlier than the creation of its delivery.
  const range = { startdate: query.startdate };
  const sortKeys = await readSortKeys(table, { partitions, position, limit, range });
  return sortKeys.map((sortKey) => ({
    sortKey,
    deliveryId: parseAttemptEventId(keys.tagKey.parseSortKey(sortKey).eventId),
    attemptedAt: Number(sortKey.slice(0, sortKey.indexOf('#'))),
  }));
}

interface SortKeyRange {
  readonly partitions: readonly string[];
  readonly index?: 'byCreated' | 'byKey';
  readonly range: Pick<DeliveryQuery, 'startdate' | 'enddate'>;
  readonly position: string | undefined;
  readonly limit: number;
}

async function readSortKeys(
  table: Table,
  { partitions, index, range, position, limit }: SortKeyRange,
): Promise<string[]> {
  const [from, until] = timestampRange(range, position);
  if (from > until) return [];
  const sk = index ? indexes[index].sk : 'sk';
  const items = await queryShards(
    table,
    { partitions, between: [from, until], newestFirst: true, isEventuallyConsistent: true, ...(index && { index }) },
    limit + 1,
  );
  // `BETWEEN` includes both bounds: the entry of the position is returned again and dropped.
  return items
    .map((item) => String(item[sk]))
    .filter((sortKey) => sortKey !== until)
    .slice(0, limit);
}

async function loadDeliveries(
  table: Table,
  appName: string,
  entries: readonly DeliveryEntry[],
): Promise<ReadonlyMap<string, WebhookDelivery>> {
  const ids = new Set(entries.flatMap(({ deliveryId }) => deliveryId ?? []));
  const items = await table.batchGet([...ids].map((id) => keys.deliveryKey(appName, id)));
  return new Map(
    items.map((item) => {
      const delivery = parse(WebhookDelivery, item, 'DatabaseError');
      return [delivery.deliveryId, delivery];
    }),
  );
}

/** A delivery with several attempts is listed once: as the delivery itself or its last attempt. */
const isLatestEntry = ({ attemptedAt }: DeliveryEntry, { lastAttemptAt }: WebhookDelivery): boolean =>
  attemptedAt === undefined || attemptedAt === lastAttemptAt;

const matches = (delivery: WebhookDelivery, { state, username, url, startdate = 0, enddate }: DeliveryQuery): boolean =>
  (state === undefined || delivery.state === state) &&
  (username === undefined || delivery.username === username) &&
  (url === undefined || delivery.url === url || toDisplayUrl(delivery.url) === url) &&
  delivery.createdAt >= startdate &&
  (enddate === undefined || delivery.createdAt < enddate);
