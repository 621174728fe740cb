import * as v from 'valibot';
import { compressJson, decompressText, deflateJson, inflateText } from '../foundation/compression.ts';
import { toKey, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse, parseJson } from '../foundation/parse.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { dayMs } from '../foundation/time.ts';
import { EventRecord, RawEvent, toEventExcerpt } from './event.ts';
import {
  createActivityFilter,
  createSampleCollector,
  formatMetrics,
  listEventActivities,
  sampleStoreRequests,
  toActivityItem,
  toSampleItem,
} from './store-activity-table.ts';

/**
 * Attributes of an event item. Statistics read `type` and `date` from the stream. Everything else is compressed, so
 * that the event of a validation fits into one write unit of 1 KB.
 */
const PackedItem = v.object({ type: v.string(), date: v.number(), packed: v.instance(Uint8Array) });

const PackedRawView = v.object({ raw: v.exactOptional(RawEvent) });

/** Names that neither the DynamoDB client writes nor a schema reads as members of a map. */
const unstorableKeys: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/**
 * An eventually consistent read of up to 4 KB costs half a read unit, and each written item at least one write unit.
 */
const maxPackedBytes = 3_500;

/** Maximum size of a tag with an excerpt as JSON, which is longer than the item: a write unit has 1,024 bytes. */
const maxTagLength = 1_000;

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
  const activities = activityFilter(service)(appName, listEventActivities(event, raw));
  const samples = sampleCollector(service)(appName, sampleStoreRequests(raw));
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

/** Returns the events that exist. An event of the last second can be missing. */
export async function findEvents(
  service: Service,
  appName: string,
  eventIds: readonly string[],
): Promise<EventRecord[]> {
  const eventKeys = eventIds.map((id) => keys.eventKey(appName, id));
  return await parseLive(service, await service.table.batchGet(eventKeys, { isEventuallyConsistent: true }));
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

export function isLive(service: Service, { ttl }: Item): boolean {
  return Number(ttl) * 1000 > service.now();
}

export async function parseLive(service: Service, items: readonly Item[]): Promise<EventRecord[]> {
  return await Promise.all(items.filter((item) => isLive(service, item)).map(parseEventItem));
}

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

/** Returns the raw view in an event item that `packEvent` has packed. Undefined without one. */
async function parsePackedRawView({ packed }: Item): Promise<RawEvent | undefined> {
  if (!(packed instanceof Uint8Array)) return undefined;
  return parseJson(PackedRawView, await inflateText(packed, eventDictionary), 'DatabaseError').raw;
}

/** True for an unstorable tag, which only the tag item shows. */
export const canHaveTag = ({ content }: EventRecord, tag: string): boolean =>
  Object.hasOwn(content.tags, tag) || unstorableKeys.includes(tag);

/** Removes the unstorable tags. Their tag items are written, so the event is found by them. */
function omitUnstorableTags(event: EventRecord): EventRecord {
  const tags = Object.entries(event.content.tags).filter(([tag]) => !unstorableKeys.includes(tag));
  return { ...event, content: { ...event.content, tags: Object.fromEntries(tags) } };
}

/** Returns the raw view from the items of an event: packed in the event, or compressed on its own. */
export async function findRawView(items: readonly Item[]): Promise<RawEvent | undefined> {
  for (const item of items) {
    const raw = await parsePackedRawView(item);
    if (raw) return raw;
    if (item.raw !== undefined) return parseJson(RawEvent, await decompressText(item.raw), 'DatabaseError');
  }
  return undefined;
}

/**
 * Texts that are frequent in events, the most frequent ones last: the preset dictionary of their compression. Stored
 * events cannot be read with another dictionary, so this text must not change. A better one needs another attribute
 * than `packed`.
 * @see https://www.rfc-editor.org/rfc/rfc1950#page-6
 */
export const eventDictionary = Buffer.from(
  [
    '"error":{"code":"InvalidPayload","status":400,"message":"ConnectionFailed","ResourceNotFound","DatabaseError"',
    '{"reason":"OWNERSHIP_CHANGED","reason":"PRICE_INCREASE_AGREED","reason":"EXPIRED","reason":"REFUNDED",',
    '{"reason":"WILL_AUTO_RENEW","reason":"WILL_LAPSE","reason":"ENTERED_GRACE_PERIOD","reason":"REPEATED",',
    'DID_RENEW","DID_CHANGE_RENEWAL_STATUS","SUBSCRIPTION_RENEWED","invoice.paid","customer.subscription.updated',
    'https://androidpublisher.googleapis.com/androidpublisher/v3/applications/',
    '/purchases/subscriptionsv2/tokens/',
    'https://api.stripe.com/v1/subscriptions/',
    'https://collections.mp.microsoft.com/v6.0/collections/query',
    '"platform":"processor_a","platform":"processor_b","platform":"store_c","platform":"store_b","platform":"android-playstore",',
    '"type":"non consumable"},"type":"non renewing subscription"},"type":"consumable"},"type":"paid subscription"},',
    '"isTrialPeriod":true,"isIntroPeriod":true,"discountId":"","priceConsentStatus":"cancelationReason":"lastRenewalDate":',
    '"signature":"[removed]","purchaseToken":"[removed]","appStoreReceipt":"[removed]","receipt":"[removed]",',
    '"route":"GET /v3/customers/:applicationUsername/purchases","route":"GET /v3/customers/:applicationUsername",',
    '"route":"webhook","params":{"type":"purchases.updated","attempt":1,"purchaseId":"store_a:',
    '"key":{"id":"","name":"main","level":"secret"},"level":"viewer"},"outcome":{"status":200,"ok":true},',
    '"outcome":{"status":400,"ok":false,"message":"outcome":{"status":404,"ok":false,"message":"',
    '"notifications":[{"id":"","reason":"RENEWED","date":"2026-01-01T00:00:00.000Z","productId":"store_b:',
    '"notification":{"type":"DID_RENEW","date":"2027-01-01T00:00:00.000Z"}},"response":{"status":200,"body":{}},',
    '"route":"POST /v1/validate","key":{"id":"","name":"main","level":"public"},"outcome":{"status":200,"ok":true},',
    '"content":{"products":[],"purchases":[],"transactions":[],"claims":[],"notifications":[],"refreshFailures":[],',
    '"exchangeRates":[],"tags":{"error":"_X","":"_R","":"_I","store_a:',
    '"content":{"products":[{"type":"application","id":"com.example.app"}],"purchases":[{"productId":"store_a:',
    '","platform":"store_a","purchaseId":"store_a:","sandbox":false,"offerId":null,"transactions":[{"purchaseDate":"',
    '.000Z","amountUSD":9.99,"quantity":1,"productId":"store_a:","purchaseId":"store_a:","amountMicros":4990000,',
    '"currency":"EUR","currency":"USD","transactionId":"store_a:","platform":"store_a","expirationDate":"2026-',
    '"claims":[{"type":"validation","applicationUsername":"","purchaseId":"store_a:"}],"notifications":[{"reason":"PURCHASED",',
    '"purchaseId":"store_a:"}],"refreshFailures":[],"exchangeRates":[],"tags":{"store_a:":"_P","store_a:":"_T","":"_A"},',
    '"appDownload":{"currentVersion":"1.0","originalVersion":"1.0"}},"applicationUsername":"","reqId":"',
    '"raw":{"request":{"method":"POST","route":"/v1/validate","query":{},"params":{},"body":{"id":"","type":"application",',
    '"transaction":{"type":"android-playstore","id":"GPA.","purchaseToken":"[removed]","transaction":{"type":"ios-appstore",',
    '"transaction":{"type":"apple-sk2","id":"premium","jwsRepresentation":"[removed]"},"additionalData":{"applicationUsername":"',
    '","obfuscatedUsername":"[removed]"},"currency":"USD","priceMicros":4990000,"offers":[],"products":[]}},',
    '"response":{"status":200,"body":{"ok":true,"data":{"id":"","latest_receipt":true,"transaction":{"transactionId":"',
    '","productId":"","purchaseDate":17,"type":"apple-sk2","quantity":1,"price":4990,"currency":"USD","[removed]":17},',
    '"collection":[{"renewalIntent":"Renew","renewalIntent":"Lapse","isBillingRetryPeriod":false,"quantity":1,"purchaseDate":17',
    ',"id":"","platform":"ios-appstore","purchaseId":"","transactionId":"","expiryDate":17,"isExpired":false}],',
    '"date":"2026-01-01T00:00:00.000Z","[removed]":1}}},"externalRequests":[]}}',
    '"externalRequests":[{"type":"api.storekit.apple.com","platform":"store_a","url":"https://api.storekit.apple.com/inApps/v1/',
    'subscriptions/…","method":"GET","response":{"status":200,"size":8},"timing":{"startedAt":17,"endedAt":17}},',
    '{"type":"api.storekit.apple.com","platform":"store_a","url":"https://api.storekit.apple.com/inApps/v2/history/…',
    '{"type":"api.storekit.apple.com","platform":"store_a","url":"https://api.storekit.apple.com/inApps/v1/transactions/',
    'appTransactions/…","method":"GET","response":{"status":200,"size":4},"timing":{"startedAt":17,"endedAt":17}}]}}',
  ].join(''),
);
