import { compressJson, decompressText } from '../foundation/compression.ts';
import { type Key, parseKeyTimestamp, timestampRange, toKey, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import { parse, parseJson } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import { toTagValue } from '../foundation/redaction/redact-text.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import {
  type DetailedEvent,
  EventExcerpt,
  type EventRecord,
  isRead,
  type ListedEvent,
  RawEvent,
  toEventExcerpt,
  toListedEvent,
} from './event.ts';
import { canHaveTag, packEvent, parseEventItem, parsePackedRawView } from './event-item.ts';
import { type EventRange, listNewestEventItems } from './list-newest-events.ts';
import {
  countStoreRequests,
  createActivityFilter,
  createSampleCollector,
  listStoreActivities,
} from './store-activity.ts';
import { toActivityItem, toSampleItem } from './store-activity-table.ts';
import { formatMetrics } from './store-metrics.ts';

/**
 * A page of the events in a range. Reads at most about 1,000 events, so it can have fewer rows and still have a next
 * page.
 */
interface EventQuery extends EventRange {
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
  readonly includesReads: boolean;
}

interface EventFilter extends EventRange {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly matches: (event: EventRecord) => boolean;
  /** An event to list as if it had one of the tags. */
  readonly untaggedEvent?: EventRecord | undefined;
}

/** Maximum number of events that a filter reads. */
const maxScanned = 1_000;
const activityFilter = perContainer(createActivityFilter);
const sampleCollector = perContainer(createSampleCollector);

/**
 * Saves an event with its tags and, if passed, its raw view. Also saves the activity of the stores that it records.
 */
export async function saveEvent(service: Service, appName: string, event: EventRecord, raw?: RawEvent): Promise<void> {
  const { eventId, date } = event;
  const ttl = toTtl(date + service.eventRetentionDays * dayMs);
  const packed = await packEvent(event, raw);
  const isOneItem = raw === undefined || packed.packed.length <= maxPackedBytes;
  const activities = activityFilter(service)(appName, listStoreActivities(event, raw));
  const samples = sampleCollector(service)(appName, countStoreRequests(raw));
  for (const sample of samples) service.metrics?.write(formatMetrics(service.metrics.namespace, sample));
  await service.table.batchPut([
    ...activities.map((activity) => toActivityItem(appName, activity)),
    ...samples.map((sample) => toSampleItem(appName, sample)),
    {
      ...keys.eventKey(appName, eventId),
      ...(isOneItem ? packed : await packEvent(event)),
      ttl,
    },
    ...(isOneItem ? [] : [{ ...keys.rawEventKey(appName, eventId), raw: await compressJson(raw), ttl }]),
    ...Object.keys(event.content.tags).map((tag) => buildTagItem(appName, event, { tag, ttl })),
  ]);
}

/** Lists the newest events after the first `skip`. */
export async function listEvents(
  service: Service,
  appName: string,
  { limit, skip, ...range }: EventRange & { readonly limit: number; readonly skip: number },
): Promise<EventRecord[]> {
  const items = (await listNewestEventItems(service.table, appName, { ...range, skip, limit })).map(({ item }) => item);
  return await parseLive(service, items);
}

/**
 * Lists a page of events, newest first. A page without a cursor starts after the newest `skip` events, reads
 * included.
 */
export async function listEventPage(
  service: Service,
  appName: string,
  { limit, cursor, skip = 0, includesReads, ...range }: EventQuery & { readonly skip?: number },
): Promise<CursorPage<EventRecord>> {
  const isSelected = (item: Item): boolean =>
    isLive(service, item) && (includesReads || !isRead({ type: String(item.type) }));
  return await readCursorPage(
    {
      readBefore: async (before, batchSize) =>
        await listNewestEventItems(service.table, appName, {
          ...range,
          before,
          limit: batchSize,
          skip: before === undefined ? skip : 0,
        }),
      load: async (entries) =>
        await Promise.all(entries.map(async ({ item }) => (isSelected(item) ? await parseEventItem(item) : undefined))),
    },
    { limit, cursor, maxScanned },
  );
}

/** Lists the ids of all events since a date, in any order. */
export async function listEventIdsSince(service: Service, appName: string, startdate: EpochMillis): Promise<string[]> {
  const between = keys.toEventRange(timestampRange({ startdate }));
  const ids: string[] = [];
  for await (const items of scanShards(service.table, { partitions: keys.eventPartitions(appName), between }))
    ids.push(...items.map((item) => keys.eventItemKey.parse(toKey(item)).eventId));
  return ids;
}

/** Returns the events that exist. An event of the last second can be missing. */
export async function findEvents(
  service: Service,
  appName: string,
  eventIds: readonly string[],
): Promise<EventRecord[]> {
  return await load(
    service,
    eventIds.map((id) => keys.eventKey(appName, id)),
  );
}

/** Lists the newest events with at least one of the tags. Reads at most 1,000 index entries. */
export async function listEventsByTags(
  service: Service,
  appName: string,
  tags: readonly string[],
  limit: number,
): Promise<EventRecord[]> {
  return [...(await listEventPageByTags(service, appName, tags, { limit, includesReads: true })).rows];
}

/**
 * Lists a page of the events with at least one of the tags, newest first. Includes the event of the request `reqId`,
 * which is not tagged with its own id.
 */
export async function listEventPageByTags(
  service: Service,
  appName: string,
  tags: readonly string[],
  query: EventQuery & { readonly reqId?: string },
): Promise<CursorPage<EventRecord>> {
  const { includesReads, reqId, ...page } = query;
  const eventById = reqId === undefined ? undefined : await findEvent(service, appName, reqId);
  const untaggedEvent = eventById?.reqId === reqId ? eventById : undefined;
  const tagValues = [...new Set(tags.map(toTagValue))];
  // A retried notification rewrites its event. The tag items of the first version remain.
  const isTagged = (event: EventRecord) =>
    event.eventId === untaggedEvent?.eventId || tagValues.some((tag) => canHaveTag(event, tag));
  const matches = (event: EventRecord) => (includesReads || !isRead(event)) && isTagged(event);
  return await listTagged(service, appName, tagValues, { ...page, matches, untaggedEvent });
}

/** Lists the newest events of a customer. Reads at most 1,000 events that are tagged with the username. */
export async function listEventsOfUser(
  service: Service,
  appName: string,
  username: string,
  limit: number,
): Promise<ListedEvent[]> {
  const isOwn = ({ applicationUsername }: EventRecord) => applicationUsername === username;
  const readBefore = createTagReader(service, [keys.tagKey.partition(appName, toTagValue(username))]);
  const load = async (entries: Awaited<ReturnType<typeof readBefore>>) => {
    const excerpts = entries.map(({ item }) => (isLive(service, item) ? parseTagExcerpt(item) : undefined));
    const unread = entries.filter((_entry, index) => !excerpts[index]).map(({ item }) => item);
    const byId = await loadTagged(service, appName, unread, isOwn);
    return entries.map(({ sortKey }, index) => {
      const event = byId.get(keys.tagKey.parseSortKey(sortKey).eventId);
      return excerpts[index] ?? (event && toListedEvent(event));
    });
  };
  return [...(await readCursorPage({ readBefore, load }, { limit, maxScanned })).rows];
}

/**
 * Lists the newest events with the tag and an id that starts with the prefix, with their raw views. Reads at most
 * 1,000 index entries.
 */
export async function listEventsByIdPrefix(
  service: Service,
  appName: string,
  tag: string,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<DetailedEvent[]> {
  const tags = await listNewestTags(service.table, [keys.tagKey.partition(appName, toTagValue(tag))], {
    limit: maxScanned,
  });
  const ids = tags
    .filter((item) => isLive(service, item))
    .map(({ sk }) => keys.tagKey.parseSortKey(String(sk)).eventId);
  const requestedIds = ids.filter((id) => id.startsWith(prefix)).slice(0, limit);
  const [events, raws] = await Promise.all([
    load(
      service,
      requestedIds.map((id) => keys.eventKey(appName, id)),
    ),
    Promise.all(requestedIds.map(async (id) => [id, await findRawEvent(service, appName, id)] as const)),
  ]);
  const rawById = new Map(raws);
  return events.map((event) => {
    const raw = rawById.get(event.eventId);
    return { event, ...(raw && { raw }) };
  });
}

export async function findEvent(service: Service, appName: string, eventId: string): Promise<EventRecord | undefined> {
  const item = await service.table.get(keys.eventKey(appName, eventId));
  return item && isLive(service, item) ? await parseEventItem(item) : undefined;
}

/** Returns the raw view. Undefined if the event lacks it, as events of reads do. */
export async function findRawEvent(service: Service, appName: string, eventId: string): Promise<RawEvent | undefined> {
  const items = await service.table.batchGet([keys.eventKey(appName, eventId), keys.rawEventKey(appName, eventId)]);
  return await findRawView(items.filter((item) => isLive(service, item)));
}

function isLive(service: Service, { ttl }: Item): boolean {
  return Number(ttl) * 1000 > service.now();
}

async function parseLive(service: Service, items: readonly Item[]): Promise<EventRecord[]> {
  return await Promise.all(items.filter((item) => isLive(service, item)).map(parseEventItem));
}

async function load(service: Service, eventKeys: readonly Key[]): Promise<EventRecord[]> {
  return await parseLive(service, await service.table.batchGet(eventKeys, { isEventuallyConsistent: true }));
}

function createTagReader(
  service: Service,
  partitions: readonly string[],
  page: Omit<TagPage, 'limit' | 'before'> = {},
) {
  return async (before: string | undefined, limit: number) => {
    const items = await listNewestTags(service.table, partitions, { ...page, before, limit });
    return items.map((item) => ({ sortKey: String(item.sk), item }));
  };
}

async function loadTagged(
  service: Service,
  appName: string,
  items: readonly Item[],
  matches: (event: EventRecord) => boolean,
): Promise<ReadonlyMap<string, EventRecord>> {
  const ids = items
    .filter((item) => isLive(service, item))
    .map(({ sk }) => keys.tagKey.parseSortKey(String(sk)).eventId);
  const events = await load(
    service,
    ids.map((id) => keys.eventKey(appName, id)),
  );
  return new Map(events.filter(matches).map((event) => [event.eventId, event]));
}

async function listTagged(
  service: Service,
  appName: string,
  tags: readonly string[],
  { limit, cursor, matches, untaggedEvent, ...range }: EventFilter,
): Promise<CursorPage<EventRecord>> {
  const partitions = tags.map((tag) => keys.tagKey.partition(appName, tag));
  const unstoredItems = untaggedEvent ? [toUnstoredTag(appName, untaggedEvent)] : [];
  return await readCursorPage(
    {
      readBefore: createTagReader(service, partitions, { ...range, unstoredItems }),
      async load(entries) {
        const items = entries.map(({ item }) => item);
        const byId = await loadTagged(service, appName, items, matches);
        return entries.map(({ sortKey }) => byId.get(keys.tagKey.parseSortKey(sortKey).eventId));
      },
    },
    { limit, cursor, maxScanned },
  );
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
  const [eventId, date] = [keys.tagKey.parseSortKey(String(sk)).eventId, parseKeyTimestamp(String(sk))];
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
  const between = timestampRange(dates, before);
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
