import { type EventRecord, isRead, RawEvent } from '../events/event.ts';
import { EventExcerpt, type ListedEvent, toEventExcerpt, toListedEvent } from '../events/event-excerpt.ts';
import type { EventRange, EventRepository } from '../events/event-repository.ts';
import {
  countStoreRequests,
  createActivityFilter,
  createSampleCollector,
  listStoreActivities,
} from '../events/store-activity.ts';
import { compressJson, decompressText } from '../foundation/compression.ts';
import * as keys from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import { readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { CursorPage } from '../shared/cursor-page.ts';
import { parse, parseJson } from '../shared/parse.ts';
import { toTagValue } from '../shared/redaction/redact-text.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import { canHaveTag, packEvent, parseEventItem, parsePackedRawView } from './event-item.ts';
import { listNewestEventItems } from './list-newest-events.ts';
import { toActivityItem, toSampleItem } from './store-activity-repository.ts';

interface EventFilter extends EventRange {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly matches: (event: EventRecord) => boolean;
  /** An event to list as if it had one of the tags. */
  readonly untaggedEvent?: EventRecord | undefined;
}

/** Maximum number of events that a filter reads. */
const maxScanned = 1_000;

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
  const createTagReader =
    (partitions: readonly string[], page: Omit<TagPage, 'limit' | 'before'> = {}) =>
    async (before: string | undefined, limit: number) => {
      const items = await listNewestTags(table, partitions, { ...page, before, limit });
      return items.map((item) => ({ sortKey: String(item.sk), item }));
    };
  /** Loads the events of live tags that match, by id. */
  const loadTagged = async (
    appName: string,
    items: readonly Item[],
    matches: (event: EventRecord) => boolean,
  ): Promise<ReadonlyMap<string, EventRecord>> => {
    const ids = items.filter(isLive).map(({ sk }) => keys.parseTagEventId(String(sk)));
    const events = await load(ids.map((id) => keys.eventKey(appName, id)));
    return new Map(events.filter(matches).map((event) => [event.eventId, event]));
  };
  const listTagged = async (
    appName: string,
    tags: readonly string[],
    { limit, cursor, matches, untaggedEvent, ...range }: EventFilter,
  ): Promise<CursorPage<EventRecord>> => {
    const partitions = tags.map((tag) => keys.tagPartition(appName, tag));
    const unstoredItems = untaggedEvent ? [toUnstoredTag(appName, untaggedEvent)] : [];
    return await readCursorPage(
      {
        readBefore: createTagReader(partitions, { ...range, unstoredItems }),
        async load(entries) {
          const items = entries.map(({ item }) => item);
          const byId = await loadTagged(appName, items, matches);
          return entries.map(({ sortKey }) => byId.get(keys.parseTagEventId(sortKey)));
        },
      },
      { limit, cursor, maxScanned },
    );
  };
  const find = async (appName: string, eventId: string): Promise<EventRecord | undefined> => {
    const item = await table.get(keys.eventKey(appName, eventId));
    return item && isLive(item) ? await parseEventItem(item) : undefined;
  };
  const listPageByTags: EventRepository['listPageByTags'] = async (appName, tags, query) => {
    const { includesReads, reqId, ...page } = query;
    const eventById = reqId === undefined ? undefined : await find(appName, reqId);
    const untaggedEvent = eventById?.reqId === reqId ? eventById : undefined;
    const tagValues = [...new Set(tags.map(toTagValue))];
    // A retried notification rewrites its event. The tag items of the first version remain.
    const isTagged = (event: EventRecord) =>
      event.eventId === untaggedEvent?.eventId || tagValues.some((tag) => canHaveTag(event, tag));
    const matches = (event: EventRecord) => (includesReads || !isRead(event)) && isTagged(event);
    return await listTagged(appName, tagValues, { ...page, matches, untaggedEvent });
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
          ...(isOneItem ? packed : await packEvent(event)),
          ttl,
        },
        ...(isOneItem ? [] : [{ ...keys.rawEventKey(appName, eventId), raw: await compressJson(raw), ttl }]),
        ...Object.keys(event.content.tags).map((tag) => buildTagItem(appName, event, { tag, ttl })),
      ]);
    },
    async list(appName, { limit, skip, ...range }) {
      const items = (await listNewestEventItems(table, appName, { ...range, skip, limit })).map(({ item }) => item);
      return await parseLive(items);
    },
    async listPage(appName, { limit, cursor, skip = 0, includesReads, ...range }) {
      const isSelected = (item: Item): boolean =>
        isLive(item) && (includesReads || !isRead({ type: String(item.type) }));
      return await readCursorPage(
        {
          readBefore: async (before, batchSize) =>
            await listNewestEventItems(table, appName, {
              ...range,
              before,
              limit: batchSize,
              skip: before === undefined ? skip : 0,
            }),
          load: async (entries) =>
            await Promise.all(
              entries.map(async ({ item }) => (isSelected(item) ? await parseEventItem(item) : undefined)),
            ),
        },
        { limit, cursor, maxScanned },
      );
    },
    async listIdsSince(appName, startdate) {
      const between = keys.toEventRange(keys.timestampRange({ startdate }));
      const ids: string[] = [];
      for await (const items of scanShards(table, { partitions: keys.eventPartitions(appName), between }))
        ids.push(...items.map((item) => keys.parseEventId(keys.toKey(item))));
      return ids;
    },
    findMany: async (appName, eventIds) => await load(eventIds.map((id) => keys.eventKey(appName, id))),
    listByTags: async (appName, tags, limit) => [
      ...(await listPageByTags(appName, tags, { limit, includesReads: true })).rows,
    ],
    listPageByTags,
    async listByUser(appName, username, limit) {
      const isOwn = ({ applicationUsername }: EventRecord) => applicationUsername === username;
      const readBefore = createTagReader([keys.tagPartition(appName, toTagValue(username))]);
      const load = async (entries: Awaited<ReturnType<typeof readBefore>>) => {
        const excerpts = entries.map(({ item }) => (isLive(item) ? parseTagExcerpt(item) : undefined));
        const unread = entries.filter((_entry, index) => !excerpts[index]).map(({ item }) => item);
        const byId = await loadTagged(appName, unread, isOwn);
        return entries.map(({ sortKey }, index) => {
          const event = byId.get(keys.parseTagEventId(sortKey));
          return excerpts[index] ?? (event && toListedEvent(event));
        });
      };
      return [...(await readCursorPage({ readBefore, load }, { limit, maxScanned })).rows];
    },
    async listByIdPrefix(appName, tag, { prefix, limit }) {
      const tags = await listNewestTags(table, [keys.tagPartition(appName, toTagValue(tag))], { limit: maxScanned });
      const ids = tags.filter(isLive).map(({ sk }) => keys.parseTagEventId(String(sk)));
      const requestedIds = ids.filter((id) => id.startsWith(prefix)).slice(0, limit);
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
    find,
    findRaw,
  };
}

/** Maximum size of a tag with an excerpt as JSON, which is longer than the item: a write unit has 1,024 bytes. */
const maxTagLength = 1_000;

/**
 * Builds a tag of an event. The tag of its only customer contains an excerpt, so that a list of the customer's events
 * does not read them. Erasing the customer deletes it.
 */
function buildTagItem(appName: string, event: EventRecord, { tag, ttl }: { tag: string; ttl: number }): Item {
  const { eventId, date, applicationUsername, content } = event;
  const item = { ...keys.tagKey(appName, tag, date, eventId), ttl };
  const users = Object.values(content.tags).filter((type) => type === '_A');
  if (tag !== applicationUsername || users.length > 1) return item;
  const withExcerpt = { ...item, excerpt: toEventExcerpt(event) };
  return Buffer.byteLength(JSON.stringify(withExcerpt)) <= maxTagLength ? withExcerpt : item;
}

function parseTagExcerpt({ sk, excerpt }: Item): ListedEvent | undefined {
  if (excerpt === undefined) return undefined;
  const [eventId, date] = [keys.parseTagEventId(String(sk)), keys.parseKeyTimestamp(String(sk))];
  return { ...parse(EventExcerpt, excerpt, 'DatabaseError'), eventId, date };
}

interface TagPage extends EventRange {
  readonly limit: number;
  /** Selects tag items with a lower sort key. */
  readonly before?: string | undefined;
  /** Further items, which the table does not have. */
  readonly unstoredItems?: readonly Item[];
}

/** Builds the item of a tag that an event does not have. Its event is live, so it does not expire. */
const toUnstoredTag = (appName: string, { eventId, date }: EventRecord): Item => ({
  ...keys.tagKey(appName, eventId, date, eventId),
  ttl: Number.POSITIVE_INFINITY,
});

/** Lists the newest tag items of all partitions, newest first. An event with several of the tags is listed once. */
async function listNewestTags(
  table: Table,
  partitions: readonly string[],
  { limit, before, unstoredItems = [], ...dates }: TagPage,
): Promise<Item[]> {
  const between = keys.timestampRange(dates, before);
  const [from, until] = between;
  if (from > until) return [];
  // `BETWEEN` includes both bounds: the tag item of the bound is returned again and dropped.
  const range = { between, newestFirst: true, limit: limit + 1, isEventuallyConsistent: true };
  const lists = await Promise.all(partitions.map((partition) => table.query({ partition, ...range })));
  const items = [...lists.flat(), ...unstoredItems].filter(({ sk }) => String(sk) >= from && String(sk) < until);
  const bySortKey = new Map(items.map((item) => [String(item.sk), item]));
  return [...bySortKey.values()].sort((a, b) => (String(a.sk) < String(b.sk) ? 1 : -1)).slice(0, limit);
}

/**
 * An eventually consistent read of up to 4 KB costs half a read unit, and each written item at least one write unit.
 */
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
