import { EventRecord, type RawEvent } from '../events/event.ts';
import { parse } from '../parse.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** Records of the requests of each application. */
export interface Events {
  /** Writes an event, its tags and, when given, its raw view; all of it ends after the retention. */
  record(app: string, event: EventRecord, raw?: RawEvent): Promise<void>;
  /** The latest events with a tag, newest first. */
  latestWith(app: string, tag: string, limit: number): Promise<EventRecord[]>;
}

const dayMs = 24 * 60 * 60 * 1000;

export function eventsOf(table: Table, retentionDays: number): Events {
  return {
    async record(app, event, raw) {
      const { eventId, date } = event;
      const ttl = Math.floor((date + retentionDays * dayMs) / 1000);
      await table.batchPut([
        { ...keys.eventKey(app, eventId), ...keys.eventIndexKeys(app, eventId, date), ...event, ttl },
        ...(raw ? [{ ...keys.rawEventKey(app, eventId), raw: await packed(raw), ttl }] : []),
        ...Object.keys(event.content.tags).map((tag) => ({ ...keys.tagKey(app, tag, date, eventId), ttl })),
      ]);
    },
    async latestWith(app, tag, limit) {
      const tags = await table.query({ partition: keys.tagPartition(app, tag), newestFirst: true, limit });
      const ids = tags.map(({ sk }) => keys.eventIdOfTag(String(sk)));
      const items = await table.batchGet(ids.map((eventId) => keys.eventKey(app, eventId)));
      return items.map((item) => parse(EventRecord, item, 'DatabaseError'));
    },
  };
}

/** Loaded lazily: reads record no raw view. */
async function packed(raw: RawEvent): Promise<Buffer> {
  const { brotliCompressSync, constants } = await import('node:zlib');
  return brotliCompressSync(JSON.stringify(raw), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
