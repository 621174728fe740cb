import type { Millis } from '../purchases/purchase.ts';

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
const toSortableTimestamp = (date: Millis): string =>
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
export const dueIndexKeys = ({ pk }: Key, dueAt: Millis) => ({
  duePk: duePartitions[pickShard(pk, dueShards)],
  dueSk: toSortableTimestamp(dueAt),
});
/** What the key of an item in the index `due` names; undefined for an item that is of neither kind. */
export function parseDueItemKey({ pk, sk }: Key): DueItem | undefined {
  const [app = '', kind] = pk.split('#', 2);
  const id = pk.slice(`${app}#${kind}#`.length);
  if (kind === 'P' && sk === 'P') return { kind: 'purchase', appName: app, purchaseId: id };
  return kind === 'D' ? { kind: 'delivery', appName: app, deliveryId: id } : undefined;
}
/** Sorts after every item that is due by then. */
export const dueSortKeyLimit = (now: Millis): string => toSortableTimestamp(now + 1);

export const appsPartition = 'APPS';
export const appIndexKeys = (app: string) => ({ createdPk: appsPartition, createdSk: app });
export const appKey = (app: string): Key => ({ pk: `APP#${app}`, sk: 'APP' });
export const storeSettingsKey = (app: string, platform: string): Key => ({ pk: `APP#${app}`, sk: `STORE#${platform}` });

export const purchasePartition = (app: string, purchaseId: string): string => `${app}#P#${purchaseId}`;
export const purchaseKey = (app: string, purchaseId: string): Key => ({
  pk: purchasePartition(app, purchaseId),
  sk: 'P',
});
export const claimPrefix = 'C#';
export const claimKey = (app: string, purchaseId: string, username: string): Key => ({
  pk: purchasePartition(app, purchaseId),
  sk: `${claimPrefix}${username}`,
});
export const notificationPrefix = 'N#';
export const notificationKey = (app: string, purchaseId: string, date: Millis, id: string): Key => ({
  pk: purchasePartition(app, purchaseId),
  sk: `${notificationPrefix}${toSortableTimestamp(date)}#${id}`,
});
export const transactionPrefix = 'T#';
export const transactionKey = (app: string, purchaseId: string, transactionId: string): Key => ({
  pk: purchasePartition(app, purchaseId),
  sk: `${transactionPrefix}${transactionId}`,
});

export const purchaseIndexKeys = (
  app: string,
  purchaseId: string,
  dates: { createdAt: Millis; updatedAt: Millis },
) => ({
  createdPk: `${app}#P`,
  createdSk: `${toSortableTimestamp(dates.createdAt)}#${purchaseId}`,
  keyPk: `${app}#PU`,
  keySk: `${toSortableTimestamp(dates.updatedAt)}#${purchaseId}`,
});
/** A transaction with its purchase's id, as a first payment often is, is found by its own key and needs no other. */
export const transactionIndexKeys = (
  app: string,
  purchaseId: string,
  { transactionId, purchaseDate }: { readonly transactionId: string; readonly purchaseDate: Millis },
) => ({
  createdPk: `${app}#T`,
  createdSk: `${toSortableTimestamp(purchaseDate)}#${transactionId}`,
  ...(transactionId !== purchaseId && {
    keyPk: transactionIdPartition(app, transactionId),
    keySk: toSortableTimestamp(purchaseDate),
  }),
});
export const transactionIdPartition = (app: string, transactionId: string): string => `${app}#T#${transactionId}`;

export const customerPartition = (app: string, username: string): string => `${app}#C#${username}`;
/** The user of a customer's partition; only an application's name holds no `#`. */
export const parseCustomerPartition = (partition: string): string =>
  partition.slice(partition.indexOf('#') + '#C#'.length);
export const customerKey = (app: string, username: string): Key => ({ pk: customerPartition(app, username), sk: 'C' });
export const customerIndexKeys = (app: string, username: string, createdAt: Millis) => ({
  createdPk: `${app}#C`,
  createdSk: `${toSortableTimestamp(createdAt)}#${username}`,
});
export const ownedPurchasePrefix = 'P#';
export const ownedPurchaseKey = (app: string, username: string, purchaseId: string): Key => ({
  pk: customerPartition(app, username),
  sk: `${ownedPurchasePrefix}${purchaseId}`,
});
export const aliasKey = (app: string, alias: string): Key => ({ pk: `${app}#U#${alias}`, sk: 'U' });
export const unclaimedPrefix = 'W#';
export const unclaimedKey = (app: string, alias: string, purchaseId: string): Key => ({
  pk: aliasKey(app, alias).pk,
  sk: `${unclaimedPrefix}${purchaseId}`,
});

export const handledNotificationKey = (app: string, platform: string, key: string): Key => ({
  pk: `${app}#K#${platform}#${key}`,
  sk: 'K',
});
export const handledNotificationPartKey = (
  app: string,
  message: { platform: string; key: string },
  purchaseId: string,
): Key => ({
  pk: handledNotificationKey(app, message.platform, message.key).pk,
  sk: `K#${purchaseId}`,
});
export const enqueuedNotificationKey = (app: string, platform: string, key: string): Key => ({
  pk: handledNotificationKey(app, platform, key).pk,
  sk: 'Q',
});

export const idempotencyKey = (app: string, platform: string, digest: string): Key => ({
  pk: `${app}#O#${platform}#${digest}`,
  sk: 'O',
});

export const accessTokenKey = (app: string, digest: string): Key => ({ pk: `${app}#A#${digest}`, sk: 'A' });
export const priceListKey = (app: string, platform: string): Key => ({ pk: `${app}#L#${platform}`, sk: 'L' });
export const priceChangeKey = (app: string, platform: string): Key => ({ pk: `${app}#L#${platform}`, sk: 'X' });

export const deliveryKey = (app: string, deliveryId: string): Key => ({ pk: `${app}#D#${deliveryId}`, sk: 'D' });
export const deliveriesPartition = (app: string): string => `${app}#D`;
export const deliveryIndexKeys = (app: string, deliveryId: string, createdAt: Millis) => ({
  createdPk: deliveriesPartition(app),
  createdSk: `${toSortableTimestamp(createdAt)}#${deliveryId}`,
});
export const webhookUrlKey = (app: string, digest: string): Key => ({ pk: `${app}#H#${digest}`, sk: 'H' });

export const eventKey = (app: string, eventId: string): Key => ({ pk: `${app}#E#${eventId}`, sk: 'E' });
export const rawEventKey = (app: string, eventId: string): Key => ({ pk: `${app}#E#${eventId}`, sk: 'R' });
export const eventIndexKeys = (app: string, eventId: string, date: Millis) => ({
  createdPk: `${app}#E#${pickShard(eventId, eventShards)}`,
  createdSk: `${toSortableTimestamp(date)}#${eventId}`,
});
/** The partitions of the index `byCreated` that together list an application's events. */
export const eventPartitions = (app: string): string[] =>
  Array.from({ length: eventShards }, (_, shard) => `${app}#E#${shard}`);
export const tagPartition = (app: string, tag: string): string => `${app}#G#${tag}`;
export const tagKey = (app: string, tag: string, date: Millis, eventId: string): Key => ({
  pk: tagPartition(app, tag),
  sk: `${toSortableTimestamp(date)}#${eventId}`,
});
export const parseTagEventId = (tagSk: string): string => tagSk.slice(tagSk.indexOf('#') + 1);

export const ratesPartition = 'FX';
export const ratesKey = (day: string): Key => ({ pk: ratesPartition, sk: day });

export const countersPartition = (app: string): string => `${app}#S`;
export const dayPrefix = 'D#';
export const monthPrefix = 'M#';
/** A day as `YYYY-MM-DD`. */
export const dayKey = (app: string, day: string): Key => ({ pk: countersPartition(app), sk: `${dayPrefix}${day}` });
/** A month as `YYYY-MM`. */
export const monthKey = (app: string, month: string): Key => ({
  pk: countersPartition(app),
  sk: `${monthPrefix}${month}`,
});

export const streamMarkerSk = 'F';
export const streamMarkerKey = (app: string, id: string): Key => ({ pk: `${app}#F#${id}`, sk: streamMarkerSk });

/** The list of an application's purchases (`P`), transactions (`T`) or customers (`C`) in the index `byCreated`. */
export const listPartition = (app: string, collection: 'P' | 'T' | 'C'): string => `${app}#${collection}`;
/** The purchases by their latest change in the index `byKey`. */
export const updatedPartition = (app: string): string => `${app}#PU`;
/** Sorts before every row that began at that moment. */
export const timestampKey = (date: Millis): string => toSortableTimestamp(date);
/** The moment in which the row of a list's sort key began. */
export const parseKeyTimestamp = (createdSk: string): Millis => Number(createdSk.slice(0, 13));
/** Every sort key that begins with a moment is between them: a colon comes after the digits. */
export const allTimestamps = ['0', ':'] as const;
/** The sort keys from the one moment (included) to the other (excluded). */
export const timestampRange = ({
  startdate,
  enddate,
}: {
  readonly startdate?: Millis | undefined;
  readonly enddate?: Millis | undefined;
}): [string, string] => [
  startdate === undefined ? allTimestamps[0] : toSortableTimestamp(startdate),
  enddate === undefined ? allTimestamps[1] : toSortableTimestamp(enddate),
];
