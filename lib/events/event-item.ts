import * as v from 'valibot';
import { deflateJson, inflateText } from '../foundation/compression.ts';
import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse, parseJson } from '../foundation/parse.ts';
import type { Item } from '../foundation/table.ts';
import { EventRecord, RawEvent } from './event.ts';

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
