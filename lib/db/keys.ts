import type { EpochMillis } from '../shared/time.ts';

/*
 * Every key of the one table. `a` is the application's name, taken from the verified credential and never from a path, so
 * no application can reach another's rows; names hold no `#`.
 *
 * Item                        pk                   sk                    indexes
 * Application                 APP#a                APP                   byCreated APPS by name
 * Store settings, encrypted   APP#a                STORE#<platform>
 * Purchase                    a#P#<purchaseId>     P                     byCreated a#P, byKey a#PU by updatedAt, due
 * Its claims                  a#P#<purchaseId>     C#<username>
 * Its notifications           a#P#<purchaseId>     N#<date>#<id>
 * Its transactions            a#P#<purchaseId>     T#<transactionId>     byCreated a#T by date, byKey a#T#<transactionId>
 *                                                                        where that is not the purchase's id
 * Customer                    a#C#<username>       C                     byCreated a#C
 * Customer's purchase (link)  a#C#<username>       P#<purchaseId>
 * User alias                  a#U#<alias>          U
 * Purchase nobody owns yet    a#U#<alias>          W#<purchaseId>
 * Done once (a charge)        a#O#<platform>#<sha> O
 * Handled store message       a#K#<platform>#<key> K, with several purchases also K#<purchaseId>
 * The same, on the queue      a#K#<platform>#<key> Q, put there by a look at the store
 * Access token (SHA-256)      a#A#<hash>           A
 * Webhook delivery            a#D#<deliveryId>     D                     byCreated a#D and due, once it has failed
 * URL that takes no webhooks  a#H#<sha of URL>     H
 * Price list of a processor   a#L#<platform>       L
 * Its last change there       a#L#<platform>       X
 * Reference rates of a day    FX                   <YYYY-MM-DD>
 * Statistics and counts       a#S                  D#<day>, M#<month>
 * Fence in the stream         a#F#<id>             F
 * Event: context and content  a#E#<eventId>        E                     byCreated a#E#<shard>
 * Event: raw, compressed      a#E#<eventId>        R                     in `E` where both are small
 * Event tag                   a#G#<tag>            <date>#<eventId>
 */

export const tableKey = { pk: 'pk', sk: 'sk' } as const;

/** The three overloaded indexes, all KEYS_ONLY: a page is one index query and one BatchGet. */
export const indexes = {
  byCreated: { pk: 'createdPk', sk: 'createdSk' },
  byKey: { pk: 'keyPk', sk: 'keySk' },
  due: { pk: 'duePk', sk: 'dueSk' },
} as const;

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** Something whose time has come: a purchase to look at, or a webhook to send again. */
export type DueItem =
  | { readonly kind: 'purchase'; readonly appName: string; readonly purchaseId: string }
  | { readonly kind: 'delivery'; readonly appName: string; readonly deliveryId: string };

/**
 * Every request of an application writes one event, so that list is spread: one index partition takes 1,000 writes a
 * second, 8 take 8,000 requests a second of one application. All other lists grow by purchases, not by requests.
 */
const eventShards = 8;

const maxTimestamp = 9_999_999_999_999;

/** Epoch milliseconds as text that sorts like the number: what is before 1970 as its beginning, what is after 2286 as its end. */
const toSortableTimestamp = (date: EpochMillis): string =>
  String(Math.trunc(Math.min(Math.max(date, 0), maxTimestamp))).padStart(13, '0');

/** What is due, of all applications: every refresh moves an item within it. */
const dueShards = 4;

const pickShard = (id: string, shards: number): number => {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % shards;
};

/** The partitions of the index `due`. */
export const duePartitions: readonly string[] = Array.from({ length: dueShards }, (_, shard) => `DUE#${shard}`);
/** Where the sweep finds an item from `dueAt` on. */
export const dueIndexKeys = ({ pk }: Key, dueAt: EpochMillis) => ({
  duePk: duePartitions[pickShard(pk, dueShards)],
  dueSk: toSortableTimestamp(dueAt),
});
/** What the key of an item in the index `due` names; undefined for an item that is of neither kind. */
export function parseDueItemKey({ pk, sk }: Key): DueItem | undefined {
  const [appName = '', kind] = pk.split('#', 2);
  const id = pk.slice(`${appName}#${kind}#`.length);
  if (kind === 'P' && sk === 'P') return { kind: 'purchase', appName, purchaseId: id };
  return kind === 'D' ? { kind: 'delivery', appName, deliveryId: id } : undefined;
}
/** Sorts after every item that is due by then. */
export const dueSortKeyLimit = (now: EpochMillis): string => toSortableTimestamp(now + 1);

export const appsPartition = 'APPS';
export const appIndexKeys = (appName: string) => ({ createdPk: appsPartition, createdSk: appName });
export const appKey = (appName: string): Key => ({ pk: `APP#${appName}`, sk: 'APP' });
export const storeSettingsKey = (appName: string, platform: string): Key => ({
  pk: `APP#${appName}`,
  sk: `STORE#${platform}`,
});

export const purchasePartition = (appName: string, purchaseId: string): string => `${appName}#P#${purchaseId}`;
export const purchaseKey = (appName: string, purchaseId: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: 'P',
});
export const claimPrefix = 'C#';
export const claimKey = (appName: string, purchaseId: string, username: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: `${claimPrefix}${username}`,
});
export const notificationPrefix = 'N#';
export const notificationKey = (appName: string, purchaseId: string, date: EpochMillis, id: string): Key => ({
  pk: purchasePartition(appName, purchaseId),
  sk: `${notificationPrefix}${toSortableTimestamp(date)}#${id}`,
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
  createdPk: `${appName}#P`,
  createdSk: `${toSortableTimestamp(dates.createdAt)}#${purchaseId}`,
  keyPk: `${appName}#PU`,
  keySk: `${toSortableTimestamp(dates.updatedAt)}#${purchaseId}`,
});
/** A transaction with its purchase's id, as a first payment often is, is found by its own key and needs no other. */
export const transactionIndexKeys = (
  appName: string,
  purchaseId: string,
  { transactionId, purchaseDate }: { readonly transactionId: string; readonly purchaseDate: EpochMillis },
) => ({
  createdPk: `${appName}#T`,
  createdSk: `${toSortableTimestamp(purchaseDate)}#${transactionId}`,
  ...(transactionId !== purchaseId && {
    keyPk: transactionIdPartition(appName, transactionId),
    keySk: toSortableTimestamp(purchaseDate),
  }),
});
export const transactionIdPartition = (appName: string, transactionId: string): string =>
  `${appName}#T#${transactionId}`;

export const customerPartition = (appName: string, username: string): string => `${appName}#C#${username}`;
/** The user of a customer's partition; only an application's name holds no `#`. */
export const parseCustomerPartition = (partition: string): string =>
  partition.slice(partition.indexOf('#') + '#C#'.length);
export const customerKey = (appName: string, username: string): Key => ({
  pk: customerPartition(appName, username),
  sk: 'C',
});
export const customerIndexKeys = (appName: string, username: string, createdAt: EpochMillis) => ({
  createdPk: `${appName}#C`,
  createdSk: `${toSortableTimestamp(createdAt)}#${username}`,
});
export const ownedPurchasePrefix = 'P#';
export const ownedPurchaseKey = (appName: string, username: string, purchaseId: string): Key => ({
  pk: customerPartition(appName, username),
  sk: `${ownedPurchasePrefix}${purchaseId}`,
});
export const aliasKey = (appName: string, alias: string): Key => ({ pk: `${appName}#U#${alias}`, sk: 'U' });
export const unclaimedPrefix = 'W#';
export const unclaimedKey = (appName: string, alias: string, purchaseId: string): Key => ({
  pk: aliasKey(appName, alias).pk,
  sk: `${unclaimedPrefix}${purchaseId}`,
});

export const handledNotificationKey = (appName: string, platform: string, key: string): Key => ({
  pk: `${appName}#K#${platform}#${key}`,
  sk: 'K',
});
export const handledNotificationPartKey = (
  appName: string,
  message: { platform: string; key: string },
  purchaseId: string,
): Key => ({
  pk: handledNotificationKey(appName, message.platform, message.key).pk,
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

export const accessTokenKey = (appName: string, digest: string): Key => ({ pk: `${appName}#A#${digest}`, sk: 'A' });
export const priceListKey = (appName: string, platform: string): Key => ({ pk: `${appName}#L#${platform}`, sk: 'L' });
export const priceChangeKey = (appName: string, platform: string): Key => ({ pk: `${appName}#L#${platform}`, sk: 'X' });

export const deliveryKey = (appName: string, deliveryId: string): Key => ({
  pk: `${appName}#D#${deliveryId}`,
  sk: 'D',
});
export const deliveriesPartition = (appName: string): string => `${appName}#D`;
export const deliveryIndexKeys = (appName: string, deliveryId: string, createdAt: EpochMillis) => ({
  createdPk: deliveriesPartition(appName),
  createdSk: `${toSortableTimestamp(createdAt)}#${deliveryId}`,
});
export const webhookUrlKey = (appName: string, digest: string): Key => ({ pk: `${appName}#H#${digest}`, sk: 'H' });

export const eventKey = (appName: string, eventId: string): Key => ({ pk: `${appName}#E#${eventId}`, sk: 'E' });
export const rawEventKey = (appName: string, eventId: string): Key => ({ pk: `${appName}#E#${eventId}`, sk: 'R' });
export const eventIndexKeys = (appName: string, eventId: string, date: EpochMillis) => ({
  createdPk: `${appName}#E#${pickShard(eventId, eventShards)}`,
  createdSk: `${toSortableTimestamp(date)}#${eventId}`,
});
/** The partitions of the index `byCreated` that together list an application's events. */
export const eventPartitions = (appName: string): string[] =>
  Array.from({ length: eventShards }, (_, shard) => `${appName}#E#${shard}`);
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
/** A day as `YYYY-MM-DD`. */
export const dayKey = (appName: string, day: string): Key => ({
  pk: countersPartition(appName),
  sk: `${dayPrefix}${day}`,
});
/** A month as `YYYY-MM`. */
export const monthKey = (appName: string, month: string): Key => ({
  pk: countersPartition(appName),
  sk: `${monthPrefix}${month}`,
});

export const streamMarkerSk = 'F';
export const streamMarkerKey = (appName: string, id: string): Key => ({ pk: `${appName}#F#${id}`, sk: streamMarkerSk });

/** The list of an application's purchases (`P`), transactions (`T`) or customers (`C`) in the index `byCreated`. */
export const listPartition = (appName: string, collection: 'P' | 'T' | 'C'): string => `${appName}#${collection}`;
/** The purchases by their latest change in the index `byKey`. */
export const updatedPartition = (appName: string): string => `${appName}#PU`;
/** Sorts before every row that began at that moment. */
export const timestampKey = (date: EpochMillis): string => toSortableTimestamp(date);
/** The moment in which the row of a list's sort key began. */
export const parseKeyTimestamp = (createdSk: string): EpochMillis => Number(createdSk.slice(0, 13));
/** Every sort key that begins with a moment is between them: a colon comes after the digits. */
export const allTimestamps = ['0', ':'] as const;
/** The sort keys from the one moment (included) to the other (excluded). */
export const timestampRange = ({
  startdate,
  enddate,
}: {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}): [string, string] => [
  startdate === undefined ? allTimestamps[0] : toSortableTimestamp(startdate),
  enddate === undefined ? allTimestamps[1] : toSortableTimestamp(enddate),
];
