import { parseEventDate } from './event-id.ts';
import {
  indexKeys,
  itemKey,
  type Key,
  listShards,
  pickShard,
  shardedList,
  toDigest,
  toShortDigest,
  toSortableTimestamp,
} from './key.ts';
import { dayMs, type EpochMillis } from './time.ts';

/*
 * All data is in one table. Keys of an app start with its name. The name comes from the verified credentials, never
 * from the path, so an app can access only its own items, and contains no `#`. A `digest` is the beginning of the
 * SHA-256.
 */

// THE ITEMS: each line is one type, with its partition key, its sort key, the indexes, and `TTL` if it is deleted.

export const tableVersionKey = itemKey('_TABLE', 'V'); // of the stored data. No app name starts with `_`

// App: settings, keys and what it announces
export const appKey = itemKey('APP#<appName>', 'APP'); // byCreated
export const storeSettingsKey = itemKey('APP#<appName>', 'STORE#<platform>'); // encrypted
export const keyOwnerKey = itemKey('_KEY#<digest>', 'K'); // The app of an API key. No app name starts with `_`
export const catalogueKey = itemKey('<appName>#I', 'I');
export const catalogueAnnouncementKey = itemKey('<appName>#I', 'N');
export const forwardsKey = itemKey('<appName>#I', 'F'); // of store notifications
export const alertsKey = itemKey('<appName>#T', 'A'); // Announced problems
export const annotationKey = itemKey('<appName>#N', '<day>#<digest>'); // of charts
export const exportScheduleKey = itemKey('<appName>#W', 'W');
export const tokenKeysKey = itemKey('<appName>#M', 'M'); // byCreated. Keys of entitlement tokens

// Purchase
export const purchaseKey = itemKey('<appName>#P#<purchaseId>', 'P'); // byCreated, byKey, due, byUser of store_a
export const claimKey = itemKey('<appName>#P#<purchaseId>', 'C#<username>'); // byUser
export const sharedClaimKey = itemKey('<appName>#P#<purchaseId>', 'R#<id>'); // byUser, TTL
/** The notifications of one version have the same date. */
export const notificationKey = itemKey('<appName>#P#<purchaseId>', 'N#<date>#<position>#<id>'); // of the lifecycle
export const transactionKey = itemKey('<appName>#P#<purchaseId>', 'T#<transactionId>'); // byCreated, byKey

/** What the payments of a purchase gave. */
export const purchaseCreditsKey = itemKey('<appName>#CB#<purchaseId>', 'B');

// Customer
export const customerKey = itemKey('<appName>#C#<username>', 'C'); // byCreated, byKey, byUser after a loss
export const nameWordKey = itemKey('<appName>#C#<username>', 'W#<number>'); // byKey
export const ownedPurchaseKey = itemKey('<appName>#C#<username>', 'P#<date>#<purchaseId>');
export const ownedTransactionKey = itemKey('<appName>#C#<username>', 'T#<date>#<digest>');
export const rankKey = itemKey('<appName>#C#<username>', 'R#<product>#<phase>#<end>#<date>#<purchaseId>');
export const grantKey = itemKey('<appName>#C#<username>', 'G#<grantId>'); // due if it ends
export const mergeKey = itemKey('<appName>#C#<username>', 'M#<mergeId>'); // byUser
export const movedClaimKey = itemKey('<appName>#C#<username>', 'L#<mergeId>#<date>#<purchaseId>');
export const creditAccountKey = itemKey('<appName>#C#<username>', 'B#<account>'); // byCreated, due if units end. One for production, one for the sandbox
export const creditEntryKey = itemKey('<appName>#C#<username>', 'E#<account>#<entryId>'); // byCreated, TTL if refused
export const creditMoveKey = itemKey('<appName>#C#<username>', 'K#<account>#<mergeId>'); // What a merge has moved
export const refundConsentKey = itemKey('<appName>#C#<username>', 'N');
export const aliasKey = itemKey('<appName>#U#<alias>', 'U'); // byUser if it is not computed
export const unclaimedKey = itemKey('<appName>#U#<alias>', 'W#<purchaseId>'); // TTL
export const mergesKey = itemKey('<appName>#U#', 'M'); // Exists if customers were merged
export const accessTokenKey = itemKey('<appName>#A#<digest>', 'A'); // byUser, TTL
export const vaultReferenceKey = itemKey('<appName>#V#<reference>', 'R');
export const vaultCustomerKey = itemKey('<appName>#V#<customerId>', 'C');
export const erasedNameKey = itemKey('<appName>#X#<digest>', 'X'); // of a username or user alias, with a secret key

// Webhooks
export const deliveryKey = itemKey('<appName>#D#<deliveryId>', 'D'); // byKey, byUser, byCreated and due if failed, TTL
export const forwardChainKey = itemKey('<appName>#D#<chain>', 'L#<date>#<deliveryId>'); // TTL. Order of forwards
export const webhookUrlKey = itemKey('<appName>#H#<digest>', 'H'); // TTL. Health of a URL

// Stores
export const storeActivityKey = itemKey('<appName>#Y', '<platform>#<kind>');
export const storeSampleKey = itemKey('<appName>#Y#<platform>', '<date>#<id>'); // TTL. Responses of a minute
export const handledNotificationKey = itemKey('<appName>#K#<platform>#<key>', 'K'); // TTL
export const handledNotificationPartKey = itemKey('<appName>#K#<platform>#<key>', 'K#<purchaseId>'); // TTL
export const enqueuedNotificationKey = itemKey('<appName>#K#<platform>#<key>', 'Q'); // TTL. A recovered one
export const refundRequestKey = itemKey('<appName>#R#<digest>', 'Z#<number>'); // byCreated, byKey, due until settled
export const refundDecisionKey = itemKey('<appName>#R#<digest>', 'O'); // TTL
export const idempotencyKey = itemKey('<appName>#O#<platform>#<digest>', 'O'); // TTL
export const storedResultKey = itemKey('<appName>#O#<platform>#<digest>', 'R'); // TTL
export const priceListKey = itemKey('<appName>#L#<platform>', 'L'); // TTL
export const priceChangeKey = itemKey('<appName>#L#<platform>', 'X'); // TTL
export const ratesKey = itemKey('FX', '<day>');

// Events. Every request writes one, so they have shards
export const eventItemKey = itemKey('<appName>#E#<shard>', 'E#<date>#<eventId>'); // TTL
export const rawEventItemKey = itemKey('<appName>#E#<shard>', 'R#<date>#<eventId>'); // TTL. Large raw views
export const tagKey = itemKey('<appName>#G#<tag>', '<date>#<eventId>'); // TTL
export const tokenBucketKey = itemKey('_LIMIT#<kind>#<digest>', 'B'); // TTL. Requests, also of unverified credentials

// Statistics: lib/statistics/counter-key.ts builds the groups
export const dayCounterKey = itemKey('<appName>#S', 'D#<day>');
export const monthCounterKey = itemKey('<appName>#S', 'M#<month>');
export const countedProductKey = itemKey('<appName>#S', 'P#<platform>#<digest>');
export const productCounterKey = itemKey('<appName>#Q#<platform>#<digest>', '<period>');
export const figuresKey = itemKey('<appName>#Z#<group>', '<period>'); // Figures, and the counters of the sandbox
export const checkpointKey = itemKey('<appName>#B#<shard>', '<counter>'); // TTL. One for each shard of the stream
export const streamMarkerKey = itemKey('<appName>#F#<id>', 'F'); // TTL
export const markerLogKey = itemKey('_STATS', 'M'); // The markers of all apps

/*
 * THE INDEXES
 *
 * A partition accepts 1,000 write units and 3,000 read units a second. A partition that every purchase, delivery or
 * request of an app writes has shards, chosen by the id of the item: the events, the lists of an app, and `due`
 * (due-index.ts). A page merges the shards by sort key (merge-shards.ts). The other partitions of an app are not busy:
 * counters are written by batch, activities and samples of stores at most once a minute by an instance, the health of a
 * URL only when it changes, and all others are the partitions of one purchase, customer, transaction, delivery or
 * message. `npm run bench scale` computes the load of each.
 */

/**
 * Shards of the lists with one entry for each new purchase, customer or transaction. At 5,000 new purchases a second,
 * each shard takes 840 write units of 1,000. Each shard adds half a read unit to a page.
 */
const listShardCount = 6;

/** Shards of the lists of webhook deliveries: a new purchase with a new customer has two deliveries. */
const deliveryShardCount = 12;

const eventShardCount = 16;

/** Words of a name that are stored. Each of them has as many shards as the names. */
const maxNameWords = 3;

/** Lists of an app by date of creation. */
export const createdLists = {
  purchases: shardedList('byCreated', 'P', listShardCount),
  customers: shardedList('byCreated', 'C', listShardCount),
  transactions: shardedList('byCreated', 'T', listShardCount),
} as const;
export type ListKind = keyof typeof createdLists;
export const creditAccountList = shardedList('byCreated', 'CA', listShardCount);
export const openDeliveryList = shardedList('byCreated', 'D', deliveryShardCount);
export const updatedPurchaseList = shardedList('byKey', 'PU', listShardCount);
export const customerNameList = shardedList('byKey', 'CN', listShardCount);
/** Customers who have lost a purchase to another customer, by the latest time. */
export const formerOwnerList = shardedList('byUser', 'CL', listShardCount);
/** Other words of names, each in a separate item. */
export const nameWordList = shardedList('byKey', 'CW', maxNameWords * listShardCount);
export const deliveryList = shardedList('byKey', 'DL', deliveryShardCount);

export const appIndexKeys = indexKeys('byCreated', 'APPS', '<appName>');
export const tokenKeysIndexKeys = indexKeys('byCreated', 'TOKENKEYS', '<appName>');
export const creditEntryListKeys = indexKeys('byCreated', '<appName>#B#<account>#<username>', '<date>#<entryId>');
export const refundRequestListKeys = indexKeys('byCreated', '<appName>#R', '<date>#<requestId>');
export const refundRequestStateKeys = indexKeys('byKey', '<appName>#R#<state>', '<date>#<requestId>');
export const transactionIdKeys = indexKeys('byKey', '<appName>#T#<transactionId>', '<date>');
/** Purchases of a store account, by its `appTransactionId`. */
export const storeAccountKeys = indexKeys('byUser', '<appName>#J#<appTransactionId>', '<purchaseId>');
/** Items outside the customer's partition that name a user. */
export const namingKeys = indexKeys('byUser', '<appName>#N#<username>', '<kind>#<date>#<digest>');

export const purchaseIndexKeys = (
  appName: string,
  purchaseId: string,
  { createdAt, updatedAt }: { createdAt: EpochMillis; updatedAt: EpochMillis },
) => ({
  ...createdLists.purchases.entry(appName, purchaseId, createdAt),
  ...updatedPurchaseList.entry(appName, purchaseId, updatedAt),
});

/** Leaves out `byKey` if the ids of transaction and purchase are equal: the primary key finds it. */
export const transactionIndexKeys = (
  appName: string,
  purchaseId: string,
  { transactionId, purchaseDate }: { readonly transactionId: string; readonly purchaseDate: EpochMillis },
) => ({
  ...createdLists.transactions.entry(appName, transactionId, purchaseDate),
  ...(transactionId !== purchaseId && transactionIdKeys(appName, transactionId, purchaseDate)),
});

export const customerIndexKeys = (appName: string, username: string, createdAt: EpochMillis) => ({
  ...createdLists.customers.entry(appName, username, createdAt),
  ...customerNameKeys(appName, username),
});

/** Builds the keys by which customers are found by the beginning of their names, in any case. */
export const customerNameKeys = (appName: string, username: string) =>
  customerNameList.entry(appName, username, toNamePrefix(username));

const uuidPattern = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/;
const minIdLength = 20;

/** A word that begins with a letter and is not the first one. */
const laterWordPattern = /(?<=[^\p{L}\p{M}\p{N}])\p{L}[\p{L}\p{M}\p{N}]*/gu;

/** Bytes of the shortest word: three letters of the Latin alphabet, or one Chinese character. */
const minWordBytes = 3;

/** A UUID, or 20 or more letters and digits in a row with a digit, in a lower-cased name. */
const containsId = (text: string): boolean =>
  uuidPattern.test(text) || text.split(/[^a-z\d]/).some((run) => run.length >= minIdLength && /\d/.test(run));

/**
 * Returns the lower-cased ends of a name, each from the beginning of a word: `stripe@example.com` and `example.com` of
 * `nora.stripe@example.com`. Leaves out the first word, the words of a domain after its first one, and names that
 * contain a generated id, which is never searched for by a part.
 */
export function listNameEnds(name: string): string[] {
  const text = name.toLowerCase();
  if (containsId(text)) return [];
  const domain = text.lastIndexOf('@') + 1 || text.length;
  return [...text.matchAll(laterWordPattern)]
    .filter(({ 0: word, index }) => index <= domain && Buffer.byteLength(word) >= minWordBytes)
    .slice(0, maxNameWords)
    .map(({ index }) => text.slice(index));
}

/** Builds the items by which a customer is found by the other words of the name. */
export const buildNameWordItems = (appName: string, username: string) =>
  listNameEnds(username).map((end, number) => {
    const key = nameWordKey(appName, username, String(number));
    return { ...key, ...nameWordList.entry(appName, `${username}#${number}`, toNamePrefix(end)) };
  });

/** Characters of a name that the index contains: the lower case of a long name can exceed the size of a sort key. */
const maxNamePrefix = 100;
const toNamePrefix = (text: string): string => [...text.toLowerCase()].slice(0, maxNamePrefix).join('');

/** Returns bounds of the names that begin with the text. */
export const namePrefixRange = (text: string): [string, string] => [
  toNamePrefix(text),
  `${toNamePrefix(text)}\u{10FFFF}`,
];

/** Kinds of items that contain a username and are in other partitions than the customer's. */
const namingKinds = { claim: 'C', sharedClaim: 'R', alias: 'U', delivery: 'D', accessToken: 'A', merge: 'M' } as const;
export type NamingKind = keyof typeof namingKinds;

/** Builds the index keys of an item that names a customer. Exporting and erasing a customer find the item by them. */
export const namingIndexKeys = (
  { appName, username, kind, date }: { appName: string; username: string; kind: NamingKind; date: EpochMillis },
  { pk, sk }: Key,
) => namingKeys(appName, username, namingKinds[kind], date, toDigest(`${pk}\n${sk}`));

/** Returns bounds that enclose the index sort keys of one kind of items that name a customer. */
export const namingRange = (kind: NamingKind): [string, string] => namingKeys.range(namingKinds[kind]);

/** Builds the key of an event. Events have dated ids, so the key of any other id is free. */
export const eventKey = (appName: string, eventId: string): Key => buildEventKey(eventItemKey, appName, eventId);
export const rawEventKey = (appName: string, eventId: string): Key => buildEventKey(rawEventItemKey, appName, eventId);
const buildEventKey = (type: typeof eventItemKey | typeof rawEventItemKey, appName: string, eventId: string): Key => ({
  pk: pickShard(`${appName}#E`, eventId, eventShardCount),
  sk: type.sortKey(parseEventDate(eventId) ?? 0, eventId),
});

/** The partitions of an app's events. */
export const eventPartitions = (appName: string): readonly string[] => listShards(`${appName}#E`, eventShardCount);

/** Returns bounds of the sort keys of events in a range of dates, from `timestampRange`. */
export const toEventRange = (range: readonly [string, string]): [string, string] => [
  `${eventItemKey.sortKey()}${range[0]}`,
  `${eventItemKey.sortKey()}${range[1]}`,
];

/** Returns the digest of a payment, which the keys and ids of its refund requests contain. */
export const toPaymentDigest = (transactionId: string): string => toShortDigest(transactionId, 24);

/** Builds the id of a refund request by its key. The requests of a payment have numbers from 0001. */
export const toRefundRequestId = ({ digest, number }: { digest: string; number: string }): string =>
  `refund_${digest}_${number}`;

/** Returns the key of a refund request. Undefined for the id of something else. */
export function parseRefundRequestId(appName: string, requestId: string): Key | undefined {
  const [, digest, number] = /^refund_([0-9a-f]{24})_(\d{4})$/.exec(requestId) ?? [];
  return digest && number ? refundRequestKey(appName, digest, number) : undefined;
}

/** A refresh that follows an interval and no date of the store. It can be postponed. */
export interface IntervalCheck {
  /**
   * The next checks, if a store notification reports every change. Absent for the Microsoft Store and for reversals,
   * because only the checks find their changes.
   */
  readonly repetition?: CheckRepetition;
}

/** Interval checks that follow a check without a change. */
interface CheckRepetition {
  readonly intervalMs: number;
  /** Time from which a refresh follows a date of the store. */
  readonly until: EpochMillis;
}

/** A purchase to refresh, a webhook to retry, a grant or credits that have ended, or a refund request with a step. */
export type DueItem =
  | {
      readonly kind: 'purchase';
      readonly appName: string;
      readonly purchaseId: string;
      /** The refresh only searches for a lost store notification, so it can wait. */
      readonly isIntervalCheck?: boolean;
    }
  | { readonly kind: 'delivery'; readonly appName: string; readonly deliveryId: string }
  | { readonly kind: 'grant'; readonly appName: string; readonly username: string; readonly grantId: string }
  | { readonly kind: 'credits'; readonly appName: string; readonly username: string; readonly account: string }
  | { readonly kind: 'refundRequest'; readonly appName: string; readonly requestId: string };

/** Shards of the index `due`. It contains the items of all apps, and every refresh moves an item within it. */
const dueShardCount = 16;

/** The partitions of the index `due`. */
export const duePartitions: readonly string[] = listShards('DUE', dueShardCount);

/** Builds the index keys of an item that is due from `dueAt` on. */
export const dueIndexKeys = ({ pk }: Key, dueAt: EpochMillis, check?: IntervalCheck) => ({
  duePk: pickShard('DUE', pk, dueShardCount),
  dueSk: `${toSortableTimestamp(dueAt)}${check ? toCheckSuffix(check) : ''}`,
});

/**
 * Builds the end of the sort key of an interval check: its interval in days, in one character, and the day since 1970
 * in which the repetition ends. Checks without a repetition have neither. Few bytes, because many purchases have just
 * below 1,024, which one write unit contains.
 */
const toCheckSuffix = ({ repetition }: IntervalCheck): string =>
  repetition ? `#I${toBase36(repetition.intervalMs / dayMs)}${toBase36(Math.floor(repetition.until / dayMs))}` : '#I';
const toBase36 = (number: number): string => number.toString(36);

/** Returns the interval check of a due sort key. Undefined if the item is not an interval check. */
export function parseIntervalCheck(dueSk: string): IntervalCheck | undefined {
  const check = /^\d+#I(?:(\w)(\w+))?$/.exec(dueSk);
  if (!check) return undefined;
  const [, days, endDay = ''] = check;
  const toMs = (text: string): number => Number.parseInt(text, 36) * dayMs;
  return days === undefined ? {} : { repetition: { intervalMs: toMs(days), until: toMs(endDay) } };
}

/** Replaces the time of a due sort key. */
export const moveDueSortKey = (dueSk: string, dueAt: EpochMillis): string =>
  dueSk.replace(/^\d+/, toSortableTimestamp(dueAt));
/** Builds a sort key greater than the sort key of every item that is due at `now`. */
export const dueSortKeyLimit = (now: EpochMillis): string => toSortableTimestamp(now + 1);

/** Returns the due item with this key. Undefined if the key is of no kind that can be due. */
export function parseDueItemKey(key: Key): DueItem | undefined {
  if (grantKey.matches(key)) return { kind: 'grant', ...grantKey.parse(key) };
  if (creditAccountKey.matches(key)) return { kind: 'credits', ...creditAccountKey.parse(key) };
  if (purchaseKey.matches(key)) return { kind: 'purchase', ...purchaseKey.parse(key) };
  if (refundRequestKey.matches(key)) {
    const { appName, ...parts } = refundRequestKey.parse(key);
    return { kind: 'refundRequest', appName, requestId: toRefundRequestId(parts) };
  }
  return deliveryKey.matches(key) ? { kind: 'delivery', ...deliveryKey.parse(key) } : undefined;
}
