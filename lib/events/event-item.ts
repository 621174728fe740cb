import * as v from 'valibot';
import { deflateJson, inflateText } from '../foundation/compression.ts';
import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse, parseJson } from '../foundation/parse.ts';
import type { Item } from '../foundation/table.ts';
import { EventRecord, RawEvent } from './event.ts';
import { eventDictionary } from './event-dictionary.ts';

/**
 * Attributes of an event item. Statistics read `type` and `date` from the stream. Everything else is compressed, so
 * that the event of a validation fits into one write unit of 1 KB.
 */
const PackedItem = v.object({ type: v.string(), date: v.number(), packed: v.instance(Uint8Array) });

/** Packs an event, with its raw view if it is passed. */
export async function packEvent(event: EventRecord, raw?: RawEvent) {
  const { eventId, type, date, reqId, ...rest } = omitUnstorableTags(event);
  const content = { ...rest, ...(reqId !== eventId && { reqId }), ...(raw && { raw }) };
  return { type, date, packed: await deflateJson(content, eventDictionary) };
}

/** Parses an event item. */
export async function parseEventItem(item: Item): Promise<EventRecord> {
  const { type, date, packed } = parse(PackedItem, item, 'DatabaseError');
  const eventId = keys.eventItemKey.parse(toKey(item)).eventId;
  const content = JSON.parse(await inflateText(packed, eventDictionary));
  return parse(EventRecord, { eventId, type, date, reqId: eventId, ...content }, 'DatabaseError');
}

const PackedRawView = v.object({ raw: v.exactOptional(RawEvent) });

/** Returns the raw view in an event item that `packEvent` has packed. Undefined without one. */
export async function parsePackedRawView({ packed }: Item): Promise<RawEvent | undefined> {
  if (!(packed instanceof Uint8Array)) return undefined;
  return parseJson(PackedRawView, await inflateText(packed, eventDictionary), 'DatabaseError').raw;
}

/** Names that neither the DynamoDB client writes nor a schema reads as members of a map. */
const unstorableKeys: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** True for an unstorable tag, which only the tag item shows. */
export const canHaveTag = ({ content }: EventRecord, tag: string): boolean =>
  Object.hasOwn(content.tags, tag) || unstorableKeys.includes(tag);

/** Removes the unstorable tags. Their tag items are written, so the event is found by them. */
function omitUnstorableTags(event: EventRecord): EventRecord {
  const tags = Object.entries(event.content.tags).filter(([tag]) => !unstorableKeys.includes(tag));
  return { ...event, content: { ...event.content, tags: Object.fromEntries(tags) } };
}
