import { type DetailedEvent, type EventRecord, RawEvent } from '../events/event.ts';
import {
  countStoreRequests,
  createActivityFilter,
  createSampleCollector,
  listStoreActivities,
} from '../events/store-activity.ts';
import { parseJson } from '../shared/parse.ts';
import { toTagValue } from '../shared/redaction/redact-text.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import { compressJson, decompressText } from './compression.ts';
import { canHaveTag, packEvent, parseEventItem, parsePackedRawView } from './event-item.ts';
import * as keys from './keys.ts';
import { type EventRange, listNewestEventItems } from './list-newest-events.ts';
import { scanIndex } from './scan-index.ts';
import { toActivityItem, toSampleItem } from './store-activity-repository.ts';
import type { Item, Table } from './table.ts';

/** The events of all apps. Reads ignore events after their retention: DynamoDB deletes them some days late. */
export interface EventRepository {
  /** Saves an event with its tags and, if passed, its raw view. Also saves the activity of the stores that it records. */
  save(appName: string, event: EventRecord, raw?: RawEvent): Promise<void>;
  /** Lists the newest events after the first `skip`. */
  list(appName: string, range: EventRange & { readonly limit: number; readonly skip: number }): Promise<EventRecord[]>;
  /** Lists the ids of all events since a date, in any order. */
  listIdsSince(appName: string, startdate: EpochMillis): Promise<string[]>;
  /** Returns the events that exist. An event of the last second can be missing. */
  findMany(appName: string, eventIds: readonly string[]): Promise<EventRecord[]>;
  /** Lists the newest events with at least one of the tags. Reads at most 1,000 index entries. */
  listByTags(appName: string, tags: readonly string[], limit: number): Promise<EventRecord[]>;
  /** Lists the newest events of a customer. Reads at most 1,000 events that are tagged with the username. */
  listByUser(appName: string, username: string, limit: number): Promise<EventRecord[]>;
  /**
   * Lists the newest events with the tag and an id that starts with a prefix, with their raw views. Reads at most 1,000 index
   * entries.
   */
  listByIdPrefix(
    appName: string,
    tag: string,
    query: { prefixes: readonly string[]; limit: number },
  ): Promise<DetailedEvent[]>;
  find(appName: string, eventId: string): Promise<EventRecord | undefined>;
  /** Returns the raw view. Undefined if the event has none, which is the case for reads. */
  findRaw(appName: string, eventId: string): Promise<RawEvent | undefined>;
}

interface EventFilter {
  readonly limit: number;
  readonly matches: (event: EventRecord) => boolean;
}

/** Maximum number of tagged events that a filter reads, and the number of each further read. */
const maxScanned = 1_000;
const scanBatchSize = 100;

export function createEventRepository(table: Table, retentionDays: number, now: () => EpochMillis): EventRepository {
  const selectActivities = createActivityFilter();
  const collectSamples = createSampleCollector();
  const isLive = ({ ttl }: Item): boolean => Number(ttl) * 1000 > now();
  const parseLive = async (items: readonly Item[]): Promise<EventRecord[]> =>
    await Promise.all(items.filter(isLive).map(parseEventItem));
  // Eventually consistent reads are sufficient: an id is returned to clients only after its event is written.
  const load = async (eventKeys: readonly keys.Key[]): Promise<EventRecord[]> =>
    await parseLive(await table.batchGet(eventKeys, { isEventuallyConsistent: true }));
  const findRaw = async (appName: string, eventId: string): Promise<RawEvent | undefined> => {
    const items = await table.batchGet([keys.eventKey(appName, eventId), keys.rawEventKey(appName, eventId)]);
    return await findRawView(items.filter(isLive));
  };
  const listTagged = async (appName: string, tags: readonly string[], { limit, matches }: EventFilter) => {
    const partitions = tags.map((tag) => keys.tagPartition(appName, tag));
    const matching: EventRecord[] = [];
    let page: Item[] = [];
    for (let scanned = 0; matching.length < limit && scanned < maxScanned; scanned += page.length) {
      // Nearly every event matches, so the first read is for `limit` events only.
      const pageSize = scanned === 0 ? limit : scanBatchSize;
      const oldest = page.at(-1);
      page = await listNewestTags(table, partitions, { limit: pageSize, ...(oldest && { before: String(oldest.sk) }) });
      const ids = page.filter(isLive).map(({ sk }) => keys.parseTagEventId(String(sk)));
      const events = await load(ids.map((id) => keys.eventKey(appName, id)));
      matching.push(...events.filter(matches));
      if (page.length < pageSize) break;
    }
    return matching.slice(0, limit);
  };
  return {
    async save(appName, event, raw) {
      const { eventId, date } = event;
      const ttl = keys.toTtl(date + retentionDays * dayMs);
      const packed = await packEvent(event, raw);
      const isOneItem = raw === undefined || packed.packed.length <= maxPackedBytes;
      const activities = selectActivities(appName, listStoreActivities(event, raw));
      await table.batchPut([
        ...activities.map((activity) => toActivityItem(appName, activity)),
        ...collectSamples(appName, countStoreRequests(raw)).map((sample) => toSampleItem(appName, sample)),
        {
          ...keys.eventKey(appName, eventId),
          ...keys.eventIndexKeys(appName, eventId, date),
          ...(isOneItem ? packed : await packEvent(event)),
          ttl,
        },
        ...(isOneItem ? [] : [{ ...keys.rawEventKey(appName, eventId), raw: await compressJson(raw), ttl }]),
        ...Object.keys(event.content.tags).map((tag) => ({ ...keys.tagKey(appName, tag, date, eventId), ttl })),
      ]);
    },
    async list(appName, { limit, skip, ...range }) {
      return await parseLive(await listNewestEventItems(table, appName, { ...range, skip, limit }));
    },
    async listIdsSince(appName, startdate) {
      const between = keys.timestampRange({ startdate });
      const ids: string[] = [];
      for (const partition of keys.eventPartitions(appName)) {
        for await (const items of scanIndex(table, { partition, between: keys.toEventRange(between) }))
          ids.push(...items.map((item) => keys.parseEventId(keys.toKey(item))));
      }
      for (const partition of keys.earlierEventPartitions(appName)) {
        for await (const entries of scanIndex(table, { partition, index: 'byCreated', between }))
          ids.push(...entries.map((entry) => keys.parseEventId(keys.toKey(entry))));
      }
      return ids;
    },
    findMany: async (appName, eventIds) => await load(eventIds.map((id) => keys.eventKey(appName, id))),
    async listByTags(appName, tags, limit) {
      const tagValues = [...new Set(tags.map(toTagValue))];
      // A retried notification rewrites its event. The tag items of the first version remain.
      const matches = (event: EventRecord) => tagValues.some((tag) => canHaveTag(event, tag));
      return await listTagged(appName, tagValues, { limit, matches });
    },
    async listByUser(appName, username, limit) {
      const matches = ({ applicationUsername }: EventRecord) => applicationUsername === username;
      return await listTagged(appName, [toTagValue(username)], { limit, matches });
    },
    async listByIdPrefix(appName, tag, { prefixes, limit }) {
      const tags = await listNewestTags(table, [keys.tagPartition(appName, toTagValue(tag))], { limit: maxScanned });
      const ids = tags.filter(isLive).map(({ sk }) => keys.parseTagEventId(String(sk)));
      const requestedIds = ids.filter((id) => prefixes.some((prefix) => id.startsWith(prefix))).slice(0, limit);
      const [events, raws] = await Promise.all([
        load(requestedIds.map((id) => keys.eventKey(appName, id))),
        Promise.all(requestedIds.map(async (id) => [id, await findRaw(appName, id)] as const)),
      ]);
      const rawById = new Map(raws);
      return events.map((event) => {
        const raw = rawById.get(event.eventId);
        return { event, ...(raw && { raw }) };
      });
    },
    async find(appName, eventId) {
      const item = await table.get(keys.eventKey(appName, eventId));
      return item && isLive(item) ? await parseEventItem(item) : undefined;
    },
    findRaw,
  };
}

/** Lists the newest tag items of all partitions, newest first. An event with several of the tags is listed once. */
async function listNewestTags(
  table: Table,
  partitions: readonly string[],
  page: { readonly limit: number; readonly before?: string },
): Promise<Item[]> {
  const lists = await Promise.all(
    partitions.map((partition) => table.query({ partition, newestFirst: true, isEventuallyConsistent: true, ...page })),
  );
  const bySortKey = new Map(lists.flat().map((item) => [String(item.sk), item]));
  return [...bySortKey.values()].sort((a, b) => (String(a.sk) < String(b.sk) ? 1 : -1)).slice(0, page.limit);
}

/** An eventually consistent read of up to 4 KB costs half a read unit, and each written item at least one write unit. */
const maxPackedBytes = 3_500;

/** Returns the raw view from the items of an event: packed in the event, or compressed on its own. */
export async function findRawView(items: readonly Item[]): Promise<RawEvent | undefined> {
  for (const item of items) {
    const raw = await parsePackedRawView(item);
    if (raw) return raw;
    if (item.raw !== undefined) return parseJson(RawEvent, await decompressText(item.raw), 'DatabaseError');
  }
  return undefined;
}
