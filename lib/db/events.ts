import { EventRecord, RawEvent } from '../events/event.ts';
import { tagText } from '../events/texts.ts';
import { parse, parseJson } from '../parse.ts';
import type { Millis } from '../purchases/purchase.ts';
import { type EventRange, newestEvents } from './event-list.ts';
import * as keys from './keys.ts';
import { packed, unpacked } from './packed.ts';
import type { Item, Table } from './table.ts';

/** Records of the requests of each application. DynamoDB deletes what has ended some days late; no read shows it. */
export interface Events {
  /** Writes an event, its tags and, when given, its raw view; all of it ends after the retention. */
  record(app: string, event: EventRecord, raw?: RawEvent): Promise<void>;
  /** The newest events after `skip` of them. */
  list(app: string, range: EventRange & { readonly limit: number; readonly skip: number }): Promise<EventRecord[]>;
  /** The latest events with any of the tags, newest first. */
  latestWith(app: string, tags: readonly string[], limit: number): Promise<EventRecord[]>;
  /** The latest events about a user, newest first; of the newest thousand with the name, as others may be tagged with it. */
  latestOf(app: string, username: string, limit: number): Promise<EventRecord[]>;
  find(app: string, eventId: string): Promise<EventRecord | undefined>;
  /** The raw view, of an event that has one. */
  findRaw(app: string, eventId: string): Promise<RawEvent | undefined>;
}

const dayMs = 24 * 60 * 60 * 1000;

/** A user may be called as a purchase is, or `error`: how many events are looked at for the user's own, and how many at once. */
const mostLookedAt = 1_000;
const lookedAtOnce = 100;

export function eventsOf(table: Table, retentionDays: number, now: () => Millis): Events {
  const isLive = ({ ttl }: Item): boolean => Number(ttl) * 1000 > now();
  // An event is written before anybody knows its id, so that lists need no strong reads.
  const load = async (wanted: readonly keys.Key[]): Promise<EventRecord[]> => {
    const items = await table.batchGet(wanted, { eventually: true });
    return items.filter(isLive).map((item) => parse(EventRecord, item, 'DatabaseError'));
  };
  return {
    async record(app, event, raw) {
      const { eventId, date } = event;
      const ttl = Math.floor((date + retentionDays * dayMs) / 1000);
      const view = raw && (await packed(raw));
      const isTogether = view !== undefined && fitTogether(event, view);
      await table.batchPut([
        {
          ...{ ...keys.eventKey(app, eventId), ...keys.eventIndexKeys(app, eventId, date), ...storable(event), ttl },
          ...(isTogether && { raw: view }),
        },
        ...(view && !isTogether ? [{ ...keys.rawEventKey(app, eventId), raw: view, ttl }] : []),
        ...Object.keys(event.content.tags).map((tag) => ({ ...keys.tagKey(app, tag, date, eventId), ttl })),
      ]);
    },
    async list(app, { limit, skip, ...range }) {
      const newest = await newestEvents(table, app, { ...range, count: skip + limit });
      return await load(newest.slice(skip));
    },
    async latestWith(app, tags, limit) {
      const partitions = [...new Set(tags.map((tag) => keys.tagPartition(app, tagText(tag))))];
      const pages = await Promise.all(
        partitions.map((partition) => table.query({ partition, newestFirst: true, limit, eventually: true })),
      );
      const found = [
        ...new Set(
          pages
            .flat()
            .filter(isLive)
            .map(({ sk }) => String(sk)),
        ),
      ]
        .sort()
        .reverse();
      return await load(found.slice(0, limit).map((sk) => keys.eventKey(app, keys.eventIdOfTag(sk))));
    },
    async latestOf(app, username, limit) {
      const partition = keys.tagPartition(app, tagText(username));
      const found: EventRecord[] = [];
      let page: Item[] = [];
      for (let seen = 0; found.length < limit && seen < mostLookedAt; seen += page.length) {
        // Nearly every name is only the user's, and the first few are all that is wanted.
        const most = seen === 0 ? limit : lookedAtOnce;
        const oldest = page.at(-1);
        const before = oldest && { before: String(oldest.sk) };
        page = await table.query({ partition, newestFirst: true, limit: most, eventually: true, ...before });
        const ids = page.filter(isLive).map(({ sk }) => keys.eventIdOfTag(String(sk)));
        const events = await load(ids.map((id) => keys.eventKey(app, id)));
        found.push(...events.filter(({ applicationUsername }) => applicationUsername === username));
        if (page.length < most) break;
      }
      return found.slice(0, limit);
    },
    async find(app, eventId) {
      const item = await table.get(keys.eventKey(app, eventId));
      return item && isLive(item) ? parse(EventRecord, item, 'DatabaseError') : undefined;
    },
    async findRaw(app, eventId) {
      const items = await table.batchGet([keys.eventKey(app, eventId), keys.rawEventKey(app, eventId)]);
      const item = items.filter(isLive).find(({ raw }) => raw !== undefined);
      return item && parseJson(RawEvent, await unpacked(item.raw), 'DatabaseError');
    },
  };
}

/** A list reads an event of up to 4 KB for half a unit, and each item that is written costs at least one. */
const fitTogether = (event: EventRecord, view: Buffer): boolean =>
  Buffer.byteLength(JSON.stringify(event)) + view.length < 3_500;

/** The database client writes no map with a member of such a name. */
const unwritable: readonly string[] = ['__proto__', 'constructor'];

/** The event without the tags that no map can hold; they can still be searched for. */
function storable(event: EventRecord): EventRecord {
  const tags = Object.entries(event.content.tags).filter(([tag]) => !unwritable.includes(tag));
  return { ...event, content: { ...event.content, tags: Object.fromEntries(tags) } };
}
