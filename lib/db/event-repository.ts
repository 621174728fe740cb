import { EventRecord, RawEvent } from '../events/event.ts';
import { parse, parseJson } from '../shared/parse.ts';
import { toTagValue } from '../shared/redaction/redact-text.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import { compressJson, decompressText } from './compression.ts';
import * as keys from './keys.ts';
import { type EventRange, listNewestEventKeys } from './list-newest-events.ts';
import type { Item, Table } from './table.ts';

/** The events of all apps. Reads ignore events after their retention: DynamoDB deletes them some days late. */
export interface EventRepository {
  /** Saves an event with its tags and, if passed, its raw view. */
  save(appName: string, event: EventRecord, raw?: RawEvent): Promise<void>;
  /** Lists the newest events after the first `skip`. */
  list(appName: string, range: EventRange & { readonly limit: number; readonly skip: number }): Promise<EventRecord[]>;
  /** Lists the newest events with at least one of the tags. Reads at most 1,000 index entries. */
  listByTags(appName: string, tags: readonly string[], limit: number): Promise<EventRecord[]>;
  /** Lists the newest events of a customer. Reads at most 1,000 events that are tagged with the username. */
  listByUser(appName: string, username: string, limit: number): Promise<EventRecord[]>;
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
  const isLive = ({ ttl }: Item): boolean => Number(ttl) * 1000 > now();
  // Eventually consistent reads are sufficient: an id is returned to clients only after its event is written.
  const load = async (eventKeys: readonly keys.Key[]): Promise<EventRecord[]> => {
    const items = await table.batchGet(eventKeys, { isEventuallyConsistent: true });
    return items.filter(isLive).map((item) => parse(EventRecord, item, 'DatabaseError'));
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
      const rawView = raw && (await compressJson(raw));
      const isInline = rawView !== undefined && fitsInOneItem(event, rawView);
      await table.batchPut([
        {
          ...{
            ...keys.eventKey(appName, eventId),
            ...keys.eventIndexKeys(appName, eventId, date),
            ...omitUnstorableTags(event),
            ttl,
          },
          ...(isInline && { raw: rawView }),
        },
        ...(rawView && !isInline ? [{ ...keys.rawEventKey(appName, eventId), raw: rawView, ttl }] : []),
        ...Object.keys(event.content.tags).map((tag) => ({ ...keys.tagKey(appName, tag, date, eventId), ttl })),
      ]);
    },
    async list(appName, { limit, skip, ...range }) {
      const newest = await listNewestEventKeys(table, appName, { ...range, count: skip + limit });
      return await load(newest.slice(skip));
    },
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
    async find(appName, eventId) {
      const item = await table.get(keys.eventKey(appName, eventId));
      return item && isLive(item) ? parse(EventRecord, item, 'DatabaseError') : undefined;
    },
    async findRaw(appName, eventId) {
      const items = await table.batchGet([keys.eventKey(appName, eventId), keys.rawEventKey(appName, eventId)]);
      const item = items.filter(isLive).find(({ raw }) => raw !== undefined);
      return item && parseJson(RawEvent, await decompressText(item.raw), 'DatabaseError');
    },
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
const fitsInOneItem = (event: EventRecord, rawView: Buffer): boolean =>
  Buffer.byteLength(JSON.stringify(event)) + rawView.length < 3_500;

/** Names that neither the DynamoDB client writes nor a schema reads as members of a map. */
const unstorableKeys: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Whether the event has the tag. True for an unstorable tag, which only the tag item shows. */
const canHaveTag = ({ content }: EventRecord, tag: string): boolean =>
  Object.hasOwn(content.tags, tag) || unstorableKeys.includes(tag);

/** Removes the unstorable tags. Their tag items are written, so the event is found by them. */
function omitUnstorableTags(event: EventRecord): EventRecord {
  const tags = Object.entries(event.content.tags).filter(([tag]) => !unstorableKeys.includes(tag));
  return { ...event, content: { ...event.content, tags: Object.fromEntries(tags) } };
}
