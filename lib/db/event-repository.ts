import { EventRecord, RawEvent } from '../events/event.ts';
import { parse, parseJson } from '../shared/parse.ts';
import { toTagValue } from '../shared/redaction/redact-text.ts';
import type { EpochMillis } from '../shared/time.ts';
import { dayMs } from '../shared/time.ts';
import { compressJson, decompressText } from './compression.ts';
import * as keys from './keys.ts';
import { type EventRange, listNewestEventKeys } from './list-newest-events.ts';
import type { Item, Table } from './table.ts';

/** Records of the requests of each application. DynamoDB deletes what has ended some days late; no read shows it. */
export interface EventRepository {
  /** Writes an event, its tags and, when given, its raw view; all of it ends after the retention. */
  save(appName: string, event: EventRecord, raw?: RawEvent): Promise<void>;
  /** The newest events after `skip` of them. */
  list(appName: string, range: EventRange & { readonly limit: number; readonly skip: number }): Promise<EventRecord[]>;
  /** The latest events with any of the tags, newest first; of the newest thousand that ever had one. */
  listByTags(appName: string, tags: readonly string[], limit: number): Promise<EventRecord[]>;
  /** The latest events about a user, newest first; of the newest thousand with the name, as others may be tagged with it. */
  listByUser(appName: string, username: string, limit: number): Promise<EventRecord[]>;
  find(appName: string, eventId: string): Promise<EventRecord | undefined>;
  /** The raw view, of an event that has one. */
  findRaw(appName: string, eventId: string): Promise<RawEvent | undefined>;
}

interface EventFilter {
  readonly limit: number;
  readonly isWanted: (event: EventRecord) => boolean;
}

/** Not every event with a tag is asked for: how many are looked at for those that are, and how many at once. */
const maxScanned = 1_000;
const scanBatchSize = 100;

export function createEventRepository(table: Table, retentionDays: number, now: () => EpochMillis): EventRepository {
  const isLive = ({ ttl }: Item): boolean => Number(ttl) * 1000 > now();
  // An event is written before anybody knows its id, so that lists need no strong reads.
  const load = async (wanted: readonly keys.Key[]): Promise<EventRecord[]> => {
    const items = await table.batchGet(wanted, { isEventuallyConsistent: true });
    return items.filter(isLive).map((item) => parse(EventRecord, item, 'DatabaseError'));
  };
  /** The latest events that are wanted among those with a tag; looks at the newest thousand with one, and at few at first. */
  const listTagged = async (appName: string, tags: readonly string[], { limit, isWanted }: EventFilter) => {
    const partitions = tags.map((tag) => keys.tagPartition(appName, tag));
    const found: EventRecord[] = [];
    let page: Item[] = [];
    for (let seen = 0; found.length < limit && seen < maxScanned; seen += page.length) {
      // Nearly every event is wanted, and the first few are all that are asked for.
      const most = seen === 0 ? limit : scanBatchSize;
      const oldest = page.at(-1);
      page = await listNewestTags(table, partitions, { limit: most, ...(oldest && { before: String(oldest.sk) }) });
      const ids = page.filter(isLive).map(({ sk }) => keys.parseTagEventId(String(sk)));
      const events = await load(ids.map((id) => keys.eventKey(appName, id)));
      found.push(...events.filter(isWanted));
      if (page.length < most) break;
    }
    return found.slice(0, limit);
  };
  return {
    async save(appName, event, raw) {
      const { eventId, date } = event;
      const ttl = Math.floor((date + retentionDays * dayMs) / 1000);
      const view = raw && (await compressJson(raw));
      const isTogether = view !== undefined && fitsInOneItem(event, view);
      await table.batchPut([
        {
          ...{
            ...keys.eventKey(appName, eventId),
            ...keys.eventIndexKeys(appName, eventId, date),
            ...omitUnstorableTags(event),
            ttl,
          },
          ...(isTogether && { raw: view }),
        },
        ...(view && !isTogether ? [{ ...keys.rawEventKey(appName, eventId), raw: view, ttl }] : []),
        ...Object.keys(event.content.tags).map((tag) => ({ ...keys.tagKey(appName, tag, date, eventId), ttl })),
      ]);
    },
    async list(appName, { limit, skip, ...range }) {
      const newest = await listNewestEventKeys(table, appName, { ...range, count: skip + limit });
      return await load(newest.slice(skip));
    },
    async listByTags(appName, tags, limit) {
      const texts = [...new Set(tags.map(toTagValue))];
      // An event that is written again, with its work done better, may have had tags that it has no more.
      return await listTagged(appName, texts, {
        limit,
        isWanted: (event) => texts.some((tag) => mayHaveTag(event, tag)),
      });
    },
    async listByUser(appName, username, limit) {
      const isWanted = ({ applicationUsername }: EventRecord) => applicationUsername === username;
      return await listTagged(appName, [toTagValue(username)], { limit, isWanted });
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

/** The newest tags of the partitions together, newest first; one for an event that has several of them. */
async function listNewestTags(
  table: Table,
  partitions: readonly string[],
  page: { readonly limit: number; readonly before?: string },
): Promise<Item[]> {
  const found = await Promise.all(
    partitions.map((partition) => table.query({ partition, newestFirst: true, isEventuallyConsistent: true, ...page })),
  );
  const bySortKey = new Map(found.flat().map((item) => [String(item.sk), item]));
  return [...bySortKey.values()].sort((a, b) => (String(a.sk) < String(b.sk) ? 1 : -1)).slice(0, page.limit);
}

/** A list reads an event of up to 4 KB for half a unit, and each item that is written costs at least one. */
const fitsInOneItem = (event: EventRecord, view: Buffer): boolean =>
  Buffer.byteLength(JSON.stringify(event)) + view.length < 3_500;

/** The database client writes no map with a member of such a name, and no schema reads one. */
const unstorableKeys: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Whether an event has a tag; of tags that it cannot hold this is not known. */
const mayHaveTag = ({ content }: EventRecord, tag: string): boolean =>
  Object.hasOwn(content.tags, tag) || unstorableKeys.includes(tag);

/** The event without the tags that no map can hold; they can still be searched for. */
function omitUnstorableTags(event: EventRecord): EventRecord {
  const tags = Object.entries(event.content.tags).filter(([tag]) => !unstorableKeys.includes(tag));
  return { ...event, content: { ...event.content, tags: Object.fromEntries(tags) } };
}
