import { parseKeyTimestamp, timestampRange, toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { queryShards, scanShards } from '../foundation/merge-shards.ts';
import { parse } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import { toTagValue } from '../foundation/redaction/redact-text.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import {
  type DetailedEvent,
  EventExcerpt,
  type EventRecord,
  isRead,
  type ListedEvent,
  toListedEvent,
} from './event.ts';
import { canHaveTag, findEvent, findEvents, findRawEvent, isLive, parseEventItem, parseLive } from './event-table.ts';

/** A range of events: from `startdate` (included) to `enddate` (excluded). */
interface EventRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

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

interface TagPage extends EventRange {
  readonly limit: number;
  /** Selects tag items with a lower sort key. */
  readonly before?: string | undefined;
  /** Further items, which the table does not have. */
  readonly unstoredItems?: readonly Item[];
}

interface EventPage extends EventRange {
  readonly skip: number;
  readonly limit: number;
  /** Selects events with a lower sort key. */
  readonly before?: string | undefined;
}

interface EventEntry {
  /** `<date>#<eventId>`. */
  readonly sortKey: string;
  readonly item: Item;
}

/** Maximum number of events that a filter reads. */
const maxScanned = 1_000;

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
    findEvents(service, appName, requestedIds),
    Promise.all(requestedIds.map(async (id) => [id, await findRawEvent(service, appName, id)] as const)),
  ]);
  const rawById = new Map(raws);
  return events.map((event) => {
    const raw = rawById.get(event.eventId);
    return { event, ...(raw && { raw }) };
  });
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
  const events = await findEvents(service, appName, ids);
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

function parseTagExcerpt({ sk, excerpt }: Item): ListedEvent | undefined {
  if (excerpt === undefined) return undefined;
  const [eventId, date] = [keys.tagKey.parseSortKey(String(sk)).eventId, parseKeyTimestamp(String(sk))];
  return { ...parse(EventExcerpt, excerpt, 'DatabaseError'), eventId, date };
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
 * Returns the items of the newest `limit` events after the first `skip`, newest first. Reads about 1.3 times as many
 * events as it returns and skips.
 */
async function listNewestEventItems(
  table: Table,
  appName: string,
  { skip, limit, before, ...dates }: EventPage,
): Promise<EventEntry[]> {
  const range = timestampRange(dates, before);
  const count = skip + limit;
  if (count === 0 || range[0] > range[1]) return [];
  const items = await queryShards(
    table,
    {
      partitions: keys.eventPartitions(appName),
      between: keys.toEventRange(range),
      newestFirst: true,
      isEventuallyConsistent: true,
    },
    count + 1,
  );
  // `BETWEEN` includes both bounds: the event of the bound is returned again and dropped.
  return items
    .map((item) => ({ sortKey: String(item.sk).slice(keys.eventItemKey.sortKey().length), item }))
    .filter(({ sortKey }) => sortKey !== range[1])
    .slice(skip, count);
}
