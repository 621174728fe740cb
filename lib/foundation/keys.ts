import { createHash, randomUUID } from 'node:crypto';
import { parseEventDate } from './event-id.ts';
import type { Platform } from './platform.ts';
import type { ItemKind } from './stream-record.ts';
import { dayMs, type EpochMillis } from './time.ts';

/*
 * THE TABLE
 *
 * All data is in one table with the keys `pk` and `sk`. `a` is the name of an app. It comes from the verified
 * credentials, never from the path, so an app can access only its own items. App names do not contain `#`. Times in
 * keys are epoch milliseconds with 13 digits, so that they sort by time.
 *
 * ITEMS
 *
 * Item                             pk                    sk                      In indexes
 * App                              APP#a                 APP                     byCreated
 * Store settings (encrypted)       APP#a                 STORE#<platform>
 * Catalogue                        a#I                   I
 *   Announcement of its change     a#I                   N
 * Forwards of store notifications  a#I                   F
 * Announced problems               a#T                   A
 * Schedule of exports              a#W                   W
 * Keys of entitlement tokens       a#M                   M                       byCreated
 * Purchase                         a#P#<purchaseId>      P                       byCreated, byKey, due (if scheduled),
 *                                                                                byUser (of store_a)
 *   Claim                          a#P#<purchaseId>      C#<username>            byUser
 *   Shared claim                   a#P#<purchaseId>      R#<id>                  byUser                            TTL
 *   Lifecycle notification         a#P#<purchaseId>      N#<date>#<id>
 *   Transaction                    a#P#<purchaseId>      T#<transactionId>       byCreated, byKey (if its id differs from
 *                                                                                the id of the purchase)
 * Customer                         a#C#<username>        C                       byCreated, byKey
 *   Link to an owned purchase      a#C#<username>        P#<date>#<purchaseId>
 *   Rank of an owned purchase      a#C#<username>        R#<product>#<phase>#<rank>#<id>
 *   Grant of an entitlement        a#C#<username>        G#<grantId>             due (if it will end)
 *   Merge into the customer        a#C#<username>        M#<mergeId>             byUser
 *   Claim that a merge has moved   a#C#<username>        L#<mergeId>#<date>#<purchaseId>
 *   Consent to refund statements   a#C#<username>        N
 *   Link to an owned transaction   a#C#<username>        T#<date>#<SHA-256 of ids>
 * User alias                       a#U#<alias>           U                       byUser (if it is not computed)
 *   Link to an unclaimed purchase  a#U#<alias>           W#<purchaseId>                                            TTL
 * Webhook delivery                 a#D#<deliveryId>      D                       byKey, byUser; byCreated, due (if failed) TTL
 *   Order of a forward             a#D#<chain>           L#<date>#<deliveryId>                                    TTL
 * Health of a webhook URL          a#H#<SHA-256 of URL>  H                                                         TTL
 * Activity of a store              a#Y                   <platform>#<kind>
 *   Sample of its responses        a#Y#<platform>        <date>#<id>                                               TTL
 * Handled store notification       a#K#<platform>#<key>  K                                                         TTL
 *   One of its purchases           a#K#<platform>#<key>  K#<purchaseId>                                            TTL
 *   Recovered and enqueued         a#K#<platform>#<key>  Q                                                         TTL
 * Refund request                   a#R#<SHA-256 of payment>  Z#<number>          byCreated, byKey, due (until it is settled)
 *   Decision about the payment     a#R#<SHA-256 of payment>  O                                                     TTL
 * Event                            a#E#<shard>           E#<date>#<eventId>                                        TTL
 *   Raw view (compressed)          a#E#<shard>           R#<date>#<eventId>      (large views only)                TTL
 * Event tag                        a#G#<tag>             <date>#<eventId>                                          TTL
 * Statistics of a day or month     a#S                   D#<day>, M#<month>
 * Counted product                  a#S                   P#<platform>#<SHA-256 of id>
 *   Its statistics                 a#Q#<platform>#<sha>  D#<day>, M#<month>
 * Figures of a day or month        a#Z#<group>           D#<day>, M#<month>      (group: P of platforms, C of countries,
 *                                                                                Q#<platform>#<sha> of a product;
 *                                                                                X#S, X#Q#*, X#Z#*: the same counters
 *                                                                                of the sandbox only)
 * Checkpoint of a stream shard     a#B#<shard>           <key of a counter>                                        TTL
 * Stream marker                    a#F#<id>              F                                                         TTL
 * Idempotent run                   a#O#<platform>#<sha>  O                                                         TTL
 * Result of a store adapter        a#O#<platform>#<sha>  R                                                         TTL
 * Access token (SHA-256)           a#A#<hash>            A                       byUser (if a user was named)      TTL
 * Vault reference                  a#V#<reference>       R
 *   Reference of a vault customer  a#V#<customerId>      C
 * Erased name (keyed digest)       a#X#<digest>          X
 * Price list of a processor        a#L#<platform>        L                                                         TTL
 *   Time of its last change        a#L#<platform>        X                                                         TTL
 * Exchange rates of a day          FX                    <YYYY-MM-DD>
 * Owner of an API key (SHA-256)    _KEY#<digest>         K
 * Token bucket of requests         _LIMIT#<kind>#<hash>  B                                                         TTL
 *
 * INDEXES (all KEYS_ONLY: a page is one query of the index and one BatchGetItem)
 *
 * Index      Partition key                  Sort key                      Items
 * byCreated  APPS                           <app name>                    apps
 *            TOKENKEYS                      <app name>                    keys of entitlement tokens
 *            a#P#<shard>                    <date>#<purchaseId>           purchases
 *            a#C#<shard>                    <date>#<username>             customers
 *            a#T#<shard>                    <date>#<transactionId>        transactions
 *            a#D#<shard>                    <date>#<deliveryId>           failed deliveries
 *            a#R                            <date>#<requestId>            refund requests
 * byKey      a#PU#<shard>                   <updatedAt>#<purchaseId>      purchases
 *            a#T#<transactionId>            <date>                        transactions
 *            a#CN#<shard>                   <username in lower case>      customers
 *            a#DL#<shard>                   <createdAt>#<deliveryId>      webhook deliveries
 *            a#R#waiting                    <end>#<requestId>             refund requests without a statement
 *            a#R#replied                    <date>#<requestId>            refund requests with a statement
 * due        DUE#<shard>                    <dueAt>, <dueAt>#I<interval><end>  purchases, deliveries, grants and refund requests of all apps
 * byUser     a#N#<username>                 <kind>#<date>#<digest>        items outside the customer's partition that name a user
 *            a#J#<appTransactionId>         <purchaseId>                  purchases of a store account
 *
 * SHARDS
 *
 * A partition accepts 1,000 write units and 3,000 read units a second. A partition that every purchase, delivery or
 * request of an app writes has shards, chosen by the id of the item: the events, the lists of an app, and `due`. A page
 * merges the shards by sort key (merge-shards.ts). The other partitions of an app are not busy: counters are written
 * by batch (a#S, a#Q, a#Z), activities and samples of stores at most once a minute by an instance (a#Y), the
 * health of a URL only when it changes (a#H). Settings change with the commands of the operator (a#I, a#M, a#L), refund
 * requests are few (a#R), and all others are the partitions of one purchase, customer, transaction, delivery or
 * message. `npm run bench scale` computes the load of each.
 *
 * ACCESS PATTERNS
 *
 * `a#P#*` and the like are merged pages of all shards.
 *
 * Purchase with claims, transactions, notifications   query  pk = a#P#<purchaseId>
 * Purchases of a customer                             query  pk = a#C#<username>, sk begins with P#, then BatchGetItem
 * The same of a customer with many purchases          query  sk begins with R#, limit 1, latest first; again before R#<product>#<phase>
 * Grants of a customer                                query  pk = a#C#<username>, sk begins with G#
 * Merges into a customer; claims moved by a merge     query  pk = a#C#<username>, sk begins with M#; with L#<mergeId>#
 * Merges of a customer into others                    query  byUser = a#N#<username>, sk begins with M#
 * Transactions of a customer, latest first            query  pk = a#C#<username>, sk begins with T#, then BatchGetItem
 * Page of purchases, customers or transactions        query  byCreated, from the hour that the statistics name
 * The same with a filter                              query  byCreated by cursor, at most 1,000 entries, then BatchGetItem
 * Transactions of a customer with a filter            query  pk = a#C#<username>, sk between two dates of T#, then BatchGetItem
 * Customers by the beginning of the name              query  byKey = a#CN#*, sk begins with the text in lower case
 * App of an API key                                   get    _KEY#<digest>
 * Purchases changed since a date                      query  byKey = a#PU#*
 * Transaction by id                                   get    a#P#<id>, T#<id>; query byKey = a#T#<transactionId>
 * All data of a customer                              query  pk = a#C#<username>; query byUser = a#N#<username>; query
 *                                                            pk = a#G#<username>; query pk = a#U#<each alias>
 * Claims of a customer, newest first                  query  byUser = a#N#<username>, sk begins with C#, then BatchGetItem
 * Unclaimed purchases of a user alias                 query  pk = a#U#<alias>, sk begins with W#
 * Newest events; events of a tag                      query  pk = a#E#<each shard>, sk begins with E#; query pk = a#G#<tag>
 * Newest webhook deliveries; failed ones              query  byKey = a#DL#*; query byCreated = a#D#*
 * Webhook attempts of a customer, or of a notification query pk = a#G#<tag>, the events with ids of attempts
 * Purchases of a store account                        query  byUser = a#J#<appTransactionId>
 * Due refreshes, retries, ends of grants, deadlines    query  due = DUE#<each shard>, sk < now
 * Refund requests of a payment, latest first          query  pk = a#R#<SHA-256 of payment>
 * Refund requests, also of one state                  query  byCreated = a#R; query byKey = a#R#waiting, sk > or < now;
 *                                                            query byKey = a#R#replied
 * Public keys of entitlement tokens                   query  byCreated = TOKENKEYS, then BatchGetItem
 * Statistics of a range                               query  pk = a#S, sk between two days or two months
 * The same by product                                 query  pk = a#S, sk begins with P#; for each product of the page
 *                                                            query pk = a#Q#<platform>#<sha>, sk between two days or two months
 * Figures of a range                                  query  pk = a#Z#P or a#Z#C, sk between two days or two months
 * Figures of a range by product or entitlement        query  the same for each counted product: pk = a#Z#Q#<platform>#<sha>
 */

export const tableKey = { pk: 'pk', sk: 'sk' } as const;

/** The overloaded indexes. */
export const indexes = {
  byCreated: { pk: 'createdPk', sk: 'createdSk' },
  byKey: { pk: 'keyPk', sk: 'keySk' },
  due: { pk: 'duePk', sk: 'dueSk' },
  byUser: { pk: 'userPk', sk: 'userSk' },
} as const;

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** Returns the key of an item or index entry. */
export const toKey = ({ pk, sk }: Readonly<Record<string, unknown>>): Key => ({ pk: String(pk), sk: String(sk) });

/**
 * Converts a time into a value of the attribute `ttl`, in epoch seconds. DynamoDB deletes the item within a few days
 * after it.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
export const toTtl = (expiresAt: EpochMillis): number => Math.ceil(expiresAt / 1000);

const maxTimestamp = 9_999_999_999_999;

/** Formats a time as 13 digits that sort by time. Clamps times before 1970 and after 2286. */
export const toSortableTimestamp = (date: EpochMillis): string =>
  String(Math.trunc(Math.min(Math.max(date, 0), maxTimestamp))).padStart(13, '0');

const pickShard = (id: string, shards: number): number => {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % shards;
};

/**
 * Shards of the lists with one entry for each new purchase, customer or transaction. At 5,000 new purchases a second,
 * each shard takes 840 write units of 1,000. Each shard adds half a read unit to a page.
 */
const listShards = 6;

/** Shards of the lists of webhook deliveries: a new purchase with a new customer has two deliveries. */
const deliveryShards = 12;

/** Returns the partition of the list's shard that contains the item with this id. */
const shardPartition = (list: string, id: string, shards: number): string => `${list}#${pickShard(id, shards)}`;
const listShardPartitions = (list: string, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => `${list}#${shard}`);

/** Returns the app and the kind of the item with this key. */
export function parseItemKey({ pk, sk }: Key): { readonly appName: string; readonly kind: ItemKind } {
  const [appName = '', section = ''] = pk.split('#', 2);
  return { appName, kind: toItemKind(section, sk) };
}

function toItemKind(section: string, sk: string): ItemKind {
  if (section === 'P' && sk === 'P') return 'purchase';
  if (section === 'P' && sk.startsWith(claimPrefix)) return 'claim';
  if (section === 'P' && sk.startsWith(notificationPrefix)) return 'notification';
  if (section === 'P' && sk.startsWith(transactionPrefix)) return 'transaction';
  if (section === 'C' && sk === 'C') return 'customer';
  if (section === 'C' && sk.startsWith(grantPrefix)) return 'grant';
  if (section === 'R' && sk.startsWith(refundRequestPrefix)) return 'refundRequest';
  if (section === 'E' && sk.startsWith(eventPrefix)) return 'event';
  return section === 'F' && sk === 'F' ? 'streamMarker' : 'other';
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

/** A purchase to refresh, a webhook to retry, a grant that has ended or a refund request with a step to take. */
export type DueItem =
  | {
      readonly kind: 'purchase';
      readonly appName: string;
      readonly purchaseId: string;
      /** Whether the refresh only searches for a lost store notification, so that it can wait. */
      readonly isIntervalCheck?: boolean;
    }
  | { readonly kind: 'delivery'; readonly appName: string; readonly deliveryId: string }
  | { readonly kind: 'grant'; readonly appName: string; readonly username: string; readonly grantId: string }
  | { readonly kind: 'refundRequest'; readonly appName: string; readonly requestId: string };

/** Shards of the index `due`. It contains the items of all apps, and every refresh moves an item within it. */
const dueShards = 16;

/** The partitions of the index `due`. */
export const duePartitions: readonly string[] = Array.from({ length: dueShards }, (_, shard) => `DUE#${shard}`);

/** Builds the index keys of an item that is due from `dueAt` on. */
export const dueIndexKeys = ({ pk }: Key, dueAt: EpochMillis, check?: IntervalCheck) => ({
  duePk: duePartitions[pickShard(pk, dueShards)],
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

/** Returns the interval check of a due sort key. Undefined if the item is no interval check. */
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
export function parseDueItemKey({ pk, sk }: Key): DueItem | undefined {
  const [appName = '', section] = pk.split('#', 2);
  const id = pk.slice(`${appName}#${section}#`.length);
  if (section === 'C' && sk.startsWith(grantPrefix))
    return { kind: 'grant', appName, username: id, grantId: sk.slice(grantPrefix.length) };
  if (section === 'P' && sk === 'P') return { kind: 'purchase', appName, purchaseId: id };
  if (section === 'R' && sk.startsWith(refundRequestPrefix))
    return { kind: 'refundRequest', appName, requestId: buildRequestId(id, sk) };
  return section === 'D' ? { kind: 'delivery', appName, deliveryId: id } : undefined;
}

export const appsPartition = 'APPS';
export const appIndexKeys = (appName: string) => ({ createdPk: appsPartition, createdSk: appName });
export const appKey = (appName: string): Key => ({ pk: `APP#${appName}`, sk: 'APP' });

/** Key of the item that names the app of an API key. It starts with an underscore, which an app name cannot do. */
export const keyOwnerKey = (digest: string): Key => ({ pk: `_KEY#${digest}`, sk: 'K' });
export const forwardsKey = (appName: string): Key => ({ pk: `${appName}#I`, sk: 'F' });
export const catalogueAnnouncementKey = (appName: string): Key => ({ pk: `${appName}#I`, sk: 'N' });
export const alertsKey = (appName: string): Key => ({ pk: `${appName}#T`, sk: 'A' });
export const exportScheduleKey = (appName: string): Key => ({ pk: `${appName}#W`, sk: 'W' });
export const catalogueKey = (appName: string): Key => ({ pk: `${appName}#I`, sk: 'I' });
export const tokenKeysPartition = 'TOKENKEYS';
export const tokenKeysKey = (appName: string): Key => ({ pk: `${appName}#M`, sk: 'M' });
export const tokenKeysIndexKeys = (appName: string) => ({ createdPk: tokenKeysPartition, createdSk: appName });
export const storeSettingsKey = (appName: string, platform: string): Key => ({
  pk: `APP#${appName}`,
  sk: `STORE#${platform}`,
});

export const purchasePartition = (appName: string, purchaseId: string): string => `${appName}#P#${purchaseId}`;
export const purchaseSortKey = 'P';

/** Returns the purchase id of a partition. */
export const parsePurchasePartition = (partition: string): string =>
  partition.slice(partition.indexOf('#') + '#P#'.length);
export const purchaseKey = (appName: string, purchaseId: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: purchaseSortKey,
});
export const claimPrefix = 'C#';
export const claimKey = (appName: string, purchaseId: string, username: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: `${claimPrefix}${username}`,
});
export const sharedClaimPrefix = 'R#';
export const sharedClaimKey = (appName: string, purchaseId: string, id: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: `${sharedClaimPrefix}${id}`,
});
export const notificationPrefix = 'N#';

/** Builds the key of a notification. The notifications of one version have the same date and sort by their position. */
export const notificationKey = (
  appName: string,
  purchaseId: string,
  { date, position, id }: { readonly date: EpochMillis; readonly position: number; readonly id: string },
): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: `${notificationPrefix}${toSortableTimestamp(date)}#${String(position).padStart(4, '0')}#${id}`,
});
export const transactionPrefix = 'T#';
export const transactionKey = (appName: string, purchaseId: string, transactionId: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: `${transactionPrefix}${transactionId}`,
});

export const purchaseIndexKeys = (
  appName: string,
  purchaseId: string,
  dates: { createdAt: EpochMillis; updatedAt: EpochMillis },
) => ({
  createdPk: shardPartition(`${appName}#P`, purchaseId, listShards),
  createdSk: `${toSortableTimestamp(dates.createdAt)}#${purchaseId}`,
  keyPk: shardPartition(`${appName}#PU`, purchaseId, listShards),
  keySk: `${toSortableTimestamp(dates.updatedAt)}#${purchaseId}`,
});

/** The partition of `byUser` that lists the purchases of a store account by its `appTransactionId`. */
export const storeAccountPartition = (appName: string, appTransactionId: string): string =>
  `${appName}#J#${appTransactionId}`;
export const storeAccountIndexKeys = (
  appName: string,
  { appTransactionId, purchaseId }: { readonly appTransactionId?: string; readonly purchaseId: string },
) =>
  appTransactionId === undefined
    ? undefined
    : { userPk: storeAccountPartition(appName, appTransactionId), userSk: purchaseId };
/** Leaves out `byKey` if the ids of transaction and purchase are equal: the primary key finds such a transaction. */
export const transactionIndexKeys = (
  appName: string,
  purchaseId: string,
  { transactionId, purchaseDate }: { readonly transactionId: string; readonly purchaseDate: EpochMillis },
) => ({
  createdPk: shardPartition(`${appName}#T`, transactionId, listShards),
  createdSk: `${toSortableTimestamp(purchaseDate)}#${transactionId}`,
  ...(transactionId !== purchaseId && {
    keyPk: transactionIdPartition(appName, transactionId),
    keySk: toSortableTimestamp(purchaseDate),
  }),
});
export const transactionIdPartition = (appName: string, transactionId: string): string =>
  `${appName}#T#${transactionId}`;

export const customerPartition = (appName: string, username: string): string => `${appName}#C#${username}`;

/** Returns the username of a customer's partition. A username can contain `#`, an app name cannot. */
export const parseCustomerPartition = (partition: string): string =>
  partition.slice(partition.indexOf('#') + '#C#'.length);
export const customerSortKey = 'C';
export const customerKey = (appName: string, username: string): Key => ({
  pk: customerPartition(appName, username),
  sk: customerSortKey,
});
export const customerIndexKeys = (appName: string, username: string, createdAt: EpochMillis) => ({
  createdPk: shardPartition(`${appName}#C`, username, listShards),
  createdSk: `${toSortableTimestamp(createdAt)}#${username}`,
  ...customerNameKeys(appName, username),
});

/** Builds the keys by which customers are found by the beginning of their names, in any case. */
export const customerNameKeys = (appName: string, username: string) => ({
  keyPk: shardPartition(`${appName}#CN`, username, listShards),
  keySk: toNamePrefix(username),
});

/** The partitions of `byKey` that list an app's customers by name. */
export const customerNamePartitions = (appName: string): readonly string[] =>
  listShardPartitions(`${appName}#CN`, listShards);
/** Characters of a name that the index contains: the lower case of a long name can exceed the size of a sort key. */
const maxNamePrefix = 100;
const toNamePrefix = (text: string): string => [...text.toLowerCase()].slice(0, maxNamePrefix).join('');

/** Returns bounds of the names that begin with the text. */
export const namePrefixRange = (text: string): [string, string] => [
  toNamePrefix(text),
  `${toNamePrefix(text)}\u{10FFFF}`,
];

export const grantPrefix = 'G#';
export const grantKey = (appName: string, username: string, grantId: string): Key => ({
  pk: customerPartition(appName, username),
  sk: `${grantPrefix}${grantId}`,
});

export const mergePrefix = 'M#';
export const mergeKey = (appName: string, username: string, mergeId: string): Key => ({
  pk: customerPartition(appName, username),
  sk: `${mergePrefix}${mergeId}`,
});

/** Returns the prefix of the claims that a merge has moved, oldest first. */
export const toMovedClaimPrefix = (mergeId: string): string => `L#${mergeId}#`;
export const movedClaimKey = (
  appName: string,
  username: string,
  { mergeId, movedAt, purchaseId }: { mergeId: string; movedAt: EpochMillis; purchaseId: string },
): Key => ({
  pk: customerPartition(appName, username),
  sk: `${toMovedClaimPrefix(mergeId)}${toSortableTimestamp(movedAt)}#${purchaseId}`,
});

export const refundConsentKey = (appName: string, username: string): Key => ({
  pk: customerPartition(appName, username),
  sk: 'N',
});

export const refundRequestPrefix = 'Z#';

/** The partition of the refund requests of a payment. Its digest is part of their ids. */
export const refundRequestPartition = (appName: string, transactionId: string): string =>
  `${appName}#R#${createHash('sha256').update(transactionId).digest('hex').slice(0, 24)}`;
const buildRequestId = (digest: string, sk: string): string =>
  `refund_${digest}_${sk.slice(refundRequestPrefix.length)}`;
/** Builds the id of the request with a number, from 1. */
export const toRefundRequestId = (transactionId: string, number: number): string =>
  buildRequestId(
    refundRequestPartition('', transactionId).slice('#R#'.length),
    `${refundRequestPrefix}${String(number).padStart(4, '0')}`,
  );
/** Returns undefined for the id of something else. */
export function parseRefundRequestId(appName: string, requestId: string): Key | undefined {
  const [, digest, number] = /^refund_([0-9a-f]{24})_(\d{4})$/.exec(requestId) ?? [];
  return digest === undefined ? undefined : { pk: `${appName}#R#${digest}`, sk: `${refundRequestPrefix}${number}` };
}
export const refundDecisionKey = (appName: string, transactionId: string): Key => ({
  pk: refundRequestPartition(appName, transactionId),
  sk: 'O',
});
export const refundRequestListPartition = (appName: string): string => `${appName}#R`;
export const refundRequestStatePartition = (appName: string, isAnswered: boolean): string =>
  `${appName}#R#${isAnswered ? 'replied' : 'waiting'}`;
export const refundRequestIndexKeys = (
  appName: string,
  requestId: string,
  { requestedAt, isAnswered, date }: { requestedAt: EpochMillis; isAnswered: boolean; date: EpochMillis },
) => ({
  createdPk: refundRequestListPartition(appName),
  createdSk: `${toSortableTimestamp(requestedAt)}#${requestId}`,
  keyPk: refundRequestStatePartition(appName, isAnswered),
  keySk: `${toSortableTimestamp(date)}#${requestId}`,
});

/** The links to owned purchases, by purchase date. */
export const ownedPurchasePrefix = 'P#';
export const ownedPurchaseSortKey = (purchaseId: string, purchaseDate: EpochMillis): string =>
  `${ownedPurchasePrefix}${toSortableTimestamp(purchaseDate)}#${purchaseId}`;
/** Bounds that enclose every link to an owned purchase with a date. */
export const datedPurchaseRange = [`${ownedPurchasePrefix}0`, `${ownedPurchasePrefix}:`] as const;

const rankPrefix = 'R#';

/** What orders the purchases of a customer. */
interface RankedPurchase {
  readonly purchaseId: string;
  readonly productId: string;
  readonly isSubscription: boolean;
  readonly sandbox: boolean;
  readonly purchaseDate?: EpochMillis;
}

/**
 * Returns the prefix of the ranks in a ranking: the owned purchases of a product with one phase, which sort by end,
 * purchase date and purchase id. Sandbox purchases have their own rankings, because an app can ignore them: see
 * `sandboxEntitlements`.
 */
const toRankPrefix = (purchase: RankedPurchase, phase: string): string => {
  const kind = purchase.isSubscription ? subscriptionKind : otherKind;
  return `${rankPrefix}${kind}${toDigest(purchase.productId)}#${phase}${purchase.sandbox ? '-sandbox' : ''}#`;
};
const [subscriptionKind, otherKind] = ['S', 'O'];
export const rankSortKey = (
  purchase: RankedPurchase,
  { phase, end }: { readonly phase: string; readonly end: EpochMillis },
): string =>
  `${toRankPrefix(purchase, phase)}${toSortableEnd(end)}#${toSortableTimestamp(purchase.purchaseDate ?? 0)}#${purchase.purchaseId}`;
/** Returns bounds that enclose the ranking of a rank. The first one is before its first rank. */
export const toRankingRange = (rankSk: string): [string, string] => toPrefixRange(`${rankSk.split('#', 3).join('#')}#`);

/** First characters of digests that divide them into eight ranges of the same size, in the order of keys. */
const digestStarts = ['-', '7', 'F', 'N', 'V', 'c', 'k', 's', '{'] as const;

/** Returns bounds that divide the ranks of a customer. A ranking is in one of them. */
export const listRankRanges = (products: 'all' | 'subscriptions'): [string, string][] =>
  (products === 'all' ? [subscriptionKind, otherKind] : [subscriptionKind]).flatMap((kind) =>
    digestStarts
      .slice(1)
      .map((until, index): [string, string] => [
        `${rankPrefix}${kind}${digestStarts[index]}`,
        `${rankPrefix}${kind}${until}`,
      ]),
  );

export const ownedTransactionPrefix = 'T#';
export const ownedTransactionSortKey = (transactionId: string, purchaseId: string, purchaseDate: EpochMillis): string =>
  `${ownedTransactionPrefix}${toSortableTimestamp(purchaseDate)}#${toDigest(JSON.stringify([transactionId, purchaseId]))}`;

/** Formats an end of access as 16 digits, which the maximum date of ECMAScript has. */
const toSortableEnd = (end: EpochMillis): string => String(Math.trunc(Math.max(end, 0))).padStart(16, '0');

/** Returns 128 bits of the SHA-256 as text: ids can be too long for a sort key, or contain the separator. */
const toDigest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Kinds of items that contain a username and are in other partitions than the customer's. */
const namingKinds = { claim: 'C', sharedClaim: 'R', alias: 'U', delivery: 'D', accessToken: 'A', merge: 'M' } as const;
export type NamingKind = keyof typeof namingKinds;

/** The partition of `byUser` that lists the items that name a customer. */
export const namingPartition = (appName: string, username: string): string => `${appName}#N#${username}`;

/** Builds the index keys of an item that names a customer. Exporting and erasing a customer find the item by them. */
export const namingIndexKeys = (
  { appName, username, kind, date }: { appName: string; username: string; kind: NamingKind; date: EpochMillis },
  { pk, sk }: Key,
) => ({
  userPk: namingPartition(appName, username),
  userSk: `${namingKinds[kind]}#${toSortableTimestamp(date)}#${toDigest(`${pk}\n${sk}`)}`,
});

/** Returns bounds that enclose the index sort keys of one kind of items that name a customer. */
export const namingRange = (kind: NamingKind): [string, string] => toPrefixRange(`${namingKinds[kind]}#`);

/**
 * Whether the item of a customer's partition is a link to an owned purchase or transaction, or the rank of a purchase.
 */
export const isPurchaseLink = (sk: string): boolean =>
  [ownedPurchasePrefix, rankPrefix, ownedTransactionPrefix].some((prefix) => sk.startsWith(prefix));

/**
 * Returns bounds of the sort keys with an ASCII prefix. DynamoDB Local finds a range by its index, but reads the whole
 * partition for `begins_with`.
 */
export const toPrefixRange = (prefix: string): [string, string] => [
  prefix,
  `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`,
];

/** Bounds that enclose the links to purchases, their ranks and the links to transactions of a customer. */
export const ownedLinkRange: readonly [string, string] = [
  ownedPurchasePrefix,
  toPrefixRange(ownedTransactionPrefix)[1],
];

/** Returns the id of the purchase that a link to an owned purchase, or its rank, names. */
export function parseOwnedPurchaseId(sk: string): string {
  const rank = /^R#[^#]+#[^#]+#\d+#\d+#/.exec(sk);
  if (rank) return sk.slice(rank[0].length);
  const link = /^P#(?:\d{13}#)?/.exec(sk);
  return sk.slice(link?.[0].length);
}
export const aliasKey = (appName: string, alias: string): Key => ({ pk: `${appName}#U#${alias}`, sk: 'U' });

/** Returns the alias of a partition. */
export const parseAliasPartition = (partition: string): string =>
  partition.slice(partition.indexOf('#') + '#U#'.length);
export const unclaimedPrefix = 'W#';
export const unclaimedKey = (appName: string, alias: string, purchaseId: string): Key => ({
  pk: aliasKey(appName, alias).pk,
  sk: `${unclaimedPrefix}${purchaseId}`,
});

export const storeActivityPartition = (appName: string): string => `${appName}#Y`;
export const storeActivityKey = (appName: string, platform: string, kind: string): Key => ({
  pk: storeActivityPartition(appName),
  sk: `${platform}#${kind}`,
});
export const storeSamplePartition = (appName: string, platform: string): string => `${appName}#Y#${platform}`;
export const storeSampleKey = (appName: string, platform: string, date: EpochMillis): Key => ({
  pk: storeSamplePartition(appName, platform),
  // Samples of the same millisecond come from different processes.
  sk: `${toSortableTimestamp(date)}#${randomUUID()}`,
});
export const handledNotificationKey = (appName: string, platform: string, key: string): Key => ({
  pk: `${appName}#K#${platform}#${key}`,
  sk: 'K',
});
export const handledNotificationPartKey = (
  appName: string,
  notification: { platform: string; key: string },
  purchaseId: string,
): Key => ({
  pk: handledNotificationKey(appName, notification.platform, notification.key).pk,
  sk: `K#${purchaseId}`,
});
export const enqueuedNotificationKey = (appName: string, platform: string, key: string): Key => ({
  pk: handledNotificationKey(appName, platform, key).pk,
  sk: 'Q',
});

export const idempotencyKey = (appName: string, platform: string, digest: string): Key => ({
  pk: `${appName}#O#${platform}#${digest}`,
  sk: 'O',
});

export const storedResultKey = (appName: string, platform: string, digest: string): Key => ({
  pk: `${appName}#O#${platform}#${digest}`,
  sk: 'R',
});

export const accessTokenKey = (appName: string, digest: string): Key => ({ pk: `${appName}#A#${digest}`, sk: 'A' });
export const vaultReferenceKey = (appName: string, reference: string): Key => ({
  pk: `${appName}#V#${reference}`,
  sk: 'R',
});
export const vaultCustomerKey = (appName: string, customerId: string): Key => ({
  pk: `${appName}#V#${customerId}`,
  sk: 'C',
});

/** Key of the marker of an erased username or user alias. The digest depends on a secret key of the app. */
export const erasedNameKey = (appName: string, digest: string): Key => ({ pk: `${appName}#X#${digest}`, sk: 'X' });
export const priceListKey = (appName: string, platform: string): Key => ({ pk: `${appName}#L#${platform}`, sk: 'L' });
export const priceChangeKey = (appName: string, platform: string): Key => ({ pk: `${appName}#L#${platform}`, sk: 'X' });

export const deliveryKey = (appName: string, deliveryId: string): Key => ({
  pk: `${appName}#D#${deliveryId}`,
  sk: 'D',
});

/** The deliveries of forwards for one purchase and URL that have not ended, in order. */
export const forwardChainPartition = (appName: string, chain: string): string => `${appName}#D#${chain}`;
export const forwardChainKey = (
  appName: string,
  chain: string,
  { receivedAt, deliveryId }: { readonly receivedAt: EpochMillis; readonly deliveryId: string },
): Key => ({
  pk: forwardChainPartition(appName, chain),
  sk: `L#${toSortableTimestamp(receivedAt)}#${deliveryId}`,
});

export function parseForwardChainSortKey(sk: string): {
  readonly receivedAt: EpochMillis;
  readonly deliveryId: string;
} {
  const [, receivedAt = '', deliveryId = ''] = sk.split('#');
  return { receivedAt: Number(receivedAt), deliveryId };
}

/** The partitions of `byCreated` that list an app's failed deliveries. */
export const failedDeliveryPartitions = (appName: string): readonly string[] =>
  listShardPartitions(`${appName}#D`, deliveryShards);
export const deliveryIndexKeys = (appName: string, deliveryId: string, createdAt: EpochMillis) => ({
  createdPk: shardPartition(`${appName}#D`, deliveryId, deliveryShards),
  createdSk: `${toSortableTimestamp(createdAt)}#${deliveryId}`,
});

/** The partitions of `byKey` that list all deliveries of an app. */
export const deliveryListPartitions = (appName: string): readonly string[] =>
  listShardPartitions(`${appName}#DL`, deliveryShards);
export const deliveryListKeys = (appName: string, deliveryId: string, createdAt: EpochMillis) => ({
  keyPk: shardPartition(`${appName}#DL`, deliveryId, deliveryShards),
  keySk: `${toSortableTimestamp(createdAt)}#${deliveryId}`,
});
export const webhookUrlKey = (appName: string, digest: string): Key => ({ pk: `${appName}#H#${digest}`, sk: 'H' });

/** Shards of an app's events. Every request writes an event. */
const eventShards = 16;

export const eventPrefix = 'E#';
const rawEventPrefix = 'R#';

/** Builds the key of an event. Events have dated ids, so the key of any other id is free. */
export const eventKey = (appName: string, eventId: string): Key => buildEventKey(appName, eventId, eventPrefix);
export const rawEventKey = (appName: string, eventId: string): Key => buildEventKey(appName, eventId, rawEventPrefix);
const buildEventKey = (appName: string, eventId: string, prefix: string): Key => ({
  pk: shardPartition(`${appName}#E`, eventId, eventShards),
  sk: `${prefix}${toSortableTimestamp(parseEventDate(eventId) ?? 0)}#${eventId}`,
});

/** Returns the id of the event with this key. */
export const parseEventId = ({ sk }: Key): string => parseTagEventId(sk.slice(eventPrefix.length));

/** The partitions of an app's events. */
export const eventPartitions = (appName: string): readonly string[] => listShardPartitions(`${appName}#E`, eventShards);
export const tagPartition = (appName: string, tag: string): string => `${appName}#G#${tag}`;
export const tagKey = (appName: string, tag: string, date: EpochMillis, eventId: string): Key => ({
  pk: tagPartition(appName, tag),
  sk: `${toSortableTimestamp(date)}#${eventId}`,
});
export const parseTagEventId = (tagSk: string): string => tagSk.slice(tagSk.indexOf('#') + 1);

export const ratesPartition = 'FX';
export const ratesKey = (day: string): Key => ({ pk: ratesPartition, sk: day });

export const countersPartition = (appName: string): string => `${appName}#S`;
export const dayPrefix = 'D#';
export const monthPrefix = 'M#';

/**
 * Builds the key of a counter for a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). Figures have their own counters: they
 * are read over years, and the lists and the overview read the others with each page.
 */
/** A product of a platform. Product ids are unique within a platform only. */
export interface Product {
  readonly platform: Platform;
  readonly productId: string;
}

/** Counters of figures: one for all platforms, one for all countries, one for each product. */
export type FiguresDimension = 'platforms' | 'countries' | 'product';

/** The counters of an app, a product or a dimension of the figures. */
export interface CounterGroup {
  readonly isSandbox?: boolean | undefined;
  readonly product?: Product | undefined;
  readonly figures?: FiguresDimension | undefined;
}

export const counterKey = (appName: string, period: string, group: CounterGroup = {}): Key => ({
  pk: counterPartition(appName, group),
  sk: `${period.length === 'YYYY-MM'.length ? monthPrefix : dayPrefix}${period}`,
});

/** Returns the partition of the counters of an app, a product or the figures of a dimension, or of their sandbox. */
export function counterPartition(appName: string, { isSandbox, product, figures }: CounterGroup): string {
  if (isSandbox) return `${appName}#Z#X#${counterPartition(appName, { product, figures }).slice(appName.length + 1)}`;
  if (figures === 'platforms') return `${appName}#Z#P`;
  if (figures === 'countries') return `${appName}#Z#C`;
  if (!product) return countersPartition(appName);
  return figures ? `${appName}#Z#Q#${toProductDigest(product)}` : productCountersPartition(appName, product);
}

/** Builds the key of the checkpoint that a shard of the stream has for a counter. */
export const checkpointKey = (appName: string, shard: string, counter: Key): Key => ({
  pk: `${appName}#B#${shard}`,
  sk: `${counter.pk.slice(appName.length + 1)}#${counter.sk}`,
});
export const countedProductPrefix = 'P#';

/** Builds the key of the item that lists a product among the counted products of the app. */
export const countedProductKey = (appName: string, product: Product): Key => ({
  pk: countersPartition(appName),
  sk: `${countedProductPrefix}${toProductDigest(product)}`,
});
export const productCountersPartition = (appName: string, product: Product): string =>
  `${appName}#Q#${toProductDigest(product)}`;
/** Product ids can be too long for a key. */
const toProductDigest = ({ platform, productId }: Product): string => `${platform}#${toDigest(productId)}`;

/** Returns the day or month of a counter's sort key. */
export const parseCounterPeriod = (sk: string): string => sk.slice(dayPrefix.length);

/** Builds the key of a token bucket. It belongs to no app, because the app of rejected credentials is not verified. */
export const tokenBucketKey = (kind: string, value: string): Key => ({
  pk: `_LIMIT#${kind}#${toDigest(value)}`,
  sk: 'B',
});

export const streamMarkerKey = (appName: string, id: string): Key => ({ pk: `${appName}#F#${id}`, sk: 'F' });

/** Returns bounds of the sort keys of events in a range of dates, from `timestampRange`. */
export const toEventRange = ([from, until]: readonly [string, string]): [string, string] => [
  `${eventPrefix}${from}`,
  `${eventPrefix}${until}`,
];

/** The partitions of `byCreated` that list an app's purchases (`P`), transactions (`T`) or customers (`C`). */
export const listPartitions = (appName: string, collection: 'P' | 'T' | 'C'): readonly string[] =>
  listShardPartitions(`${appName}#${collection}`, listShards);
/** The partitions of `byKey` that list an app's purchases by their last change. */
export const updatedPartitions = (appName: string): readonly string[] =>
  listShardPartitions(`${appName}#PU`, listShards);
/** Returns the time in a sort key of a list. */
export const parseKeyTimestamp = (createdSk: string): EpochMillis => Number(createdSk.slice(0, 13));

/** Bounds that enclose every sort key that starts with a time: a colon sorts after the digits. */
export const allTimestamps = ['0', ':'] as const;
interface TimestampRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

/**
 * Returns bounds of the sort keys from `startdate` (included) to `enddate` (excluded), and to the sort key `before`.
 * Each defaults to no bound.
 */
export function timestampRange({ startdate, enddate }: TimestampRange, before?: string): [string, string] {
  const end = enddate === undefined ? allTimestamps[1] : toSortableTimestamp(enddate);
  return [
    startdate === undefined ? allTimestamps[0] : toSortableTimestamp(startdate),
    before !== undefined && before < end ? before : end,
  ];
}
