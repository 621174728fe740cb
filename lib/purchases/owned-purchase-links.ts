import pMap from 'p-map';
import * as v from 'valibot';
import { splitIntoChunks } from '../foundation/batches.ts';
import { type Key, toDigest, toPrefixRange } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { type Item, maxTransactionWrites, type Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate, tryWrite } from '../foundation/updates.ts';
import { isSubscription, isUnpaid, type Purchase } from './purchase.ts';
import type { PurchaseChange } from './purchase-change.ts';
import { listRanks } from './purchase-rank.ts';
import type { StoredPurchase } from './stored-purchase.ts';
import type { Transaction } from './transaction.ts';

/**
 * The items that a purchase has in the partition of each entitled customer, by sort key, with their other attributes.
 */
type LinksBySortKey = ReadonlyMap<string, Item>;

/** The transaction that a link of a customer names. */
export const TransactionLink = v.object({ transactionId: v.string(), purchaseId: v.string() });

/** A link in the partition of a customer. `version` is the version of the purchase that wrote it. */
type LinkItem = Item & Key & { readonly version: number };

/*
 * Keys of the links of a customer to purchases and transactions, and of the ranks of the purchases. A ranking has the
 * owned purchases of a product with one phase, which sort by end, purchase date and purchase id. Sandbox purchases have
 * their own rankings, because an app can ignore them: see `sandboxEntitlements`.
 */

/** What orders the purchases of a customer. */
interface RankedPurchase {
  readonly purchaseId: string;
  readonly productId: string;
  readonly isSubscription: boolean;
  readonly sandbox: boolean;
  readonly purchaseDate?: EpochMillis;
}

/** Number of links that are written concurrently: a purchase can have hundreds of customers. */
const concurrency = 25;

const [subscriptionKind, otherKind] = ['S', 'O'];

/** First characters of digests that divide them into eight ranges of the same size, in the order of keys. */
const digestStarts = ['-', '7', 'F', 'N', 'V', 'c', 'k', 's', '{'] as const;

/** Bounds that enclose every link to an owned purchase with a date. */
export const datedPurchaseRange = [
  `${keys.ownedPurchaseKey.sortKey()}0`,
  `${keys.ownedPurchaseKey.sortKey()}:`,
] as const;

/** Bounds that enclose the links to purchases, their ranks and the links to transactions of a customer. */
export const ownedLinkRange: readonly [string, string] = [
  keys.ownedPurchaseKey.sortKey(),
  toPrefixRange(keys.ownedTransactionKey.sortKey())[1],
];

/** Returns the links of a purchase and its transactions. The same for each of its customers. */
export function listLinks(purchase: Purchase, transactions: readonly Transaction[]): LinksBySortKey {
  const { purchaseId } = purchase;
  return new Map<string, Item>([
    ...listPurchaseSortKeys(purchase).map((sk): [string, Item] => [sk, {}]),
    ...transactions.map(({ transactionId, purchaseDate }): [string, Item] => [
      ownedTransactionSortKey(transactionId, purchaseId, purchaseDate),
      { transactionId, purchaseId },
    ]),
  ]);
}

/**
 * Returns the sort keys of the link to a purchase and of its ranks. An unpaid purchase is not a customer's latest
 * purchase.
 */
export const listPurchaseSortKeys = (purchase: Purchase): string[] => [
  keys.ownedPurchaseKey.sortKey(isUnpaid(purchase) ? 0 : (purchase.purchaseDate ?? 0), purchase.purchaseId),
  ...listRanks(purchase).map((rank) => rankSortKey({ ...purchase, isSubscription: isSubscription(purchase) }, rank)),
];

/** Lists the links that a change adds: all of them for a gained user, otherwise the new ones. */
function listAddedLinks(appName: string, { before, after, gainedUsers }: PurchaseChange): LinkItem[] {
  const links = listStoredLinks(after);
  const previous = listStoredLinks(before);
  const newLinks = [...links].filter(([sk]) => !previous.has(sk));
  return after.entitledUsers.flatMap((username) => {
    const pk = keys.customerKey.partition(appName, username);
    const added = gainedUsers.includes(username) ? [...links] : newLinks;
    return added.map(([sk, attributes]) => ({ ...attributes, pk, sk, version: after.version }));
  });
}

/** Lists the keys of the links that a change makes stale: all of them for a lost user. */
function listStaleLinks(appName: string, { before, after, lostUsers }: PurchaseChange): Key[] {
  const previous = [...listStoredLinks(before).keys()];
  const links = listStoredLinks(after);
  const staleSortKeys = previous.filter((sk) => !links.has(sk));
  return (before?.entitledUsers ?? []).flatMap((username) => {
    const pk = keys.customerKey.partition(appName, username);
    return (lostUsers.includes(username) ? previous : staleSortKeys).map((sk) => ({ pk, sk }));
  });
}

/**
 * Adds the links of a change, and lists the customers who lose the purchase for the export of changes. Written before
 * the purchase and without its transaction, at half the price: a read ignores a link that does not match its purchase.
 * The condition keeps a link that a later change has written.
 */
export async function addLinks(table: Table, appName: string, change: PurchaseChange): Promise<void> {
  const { version, updatedAt } = change.after;
  const isEarlier = { expression: 'attribute_not_exists(version) OR version < :v', values: { ':v': version } };
  const exists = { expression: 'attribute_exists(pk)' };
  const updates = [
    ...listAddedLinks(appName, change).map(({ pk, sk, ...attributes }) =>
      buildUpdate({ pk, sk }, attributes, isEarlier),
    ),
    ...change.lostUsers.map((username) =>
      buildUpdate(
        keys.customerKey(appName, username),
        keys.formerOwnerList.entry(appName, username, updatedAt),
        exists,
      ),
    ),
  ];
  await pMap(updates, async (update) => await tryUpdate(table, update), { concurrency });
}

/** Deletes the links that a change has made stale, after the change. Keeps links that a later change writes. */
export async function deleteStaleLinks(table: Table, appName: string, change: PurchaseChange): Promise<void> {
  const isNotLater = {
    ConditionExpression: 'attribute_not_exists(version) OR version <= :v',
    ExpressionAttributeValues: { ':v': change.after.version },
  };
  await pMap(
    listStaleLinks(appName, change),
    async (Key) => await tryWrite(async () => await table.delete({ Key, ...isNotLater })),
    { concurrency },
  );
}

/**
 * Deletes the links that a failed change has added for customers who do not exist: they were erased concurrently. A new
 * customer is created before its links, so the condition keeps the links of a customer who returns.
 */
export async function deleteLinksOfErased(table: Table, appName: string, change: PurchaseChange): Promise<void> {
  const added = listAddedLinks(appName, change);
  const partitions = [...new Set(added.map(({ pk }) => pk))];
  const existing = await table.batchGet(partitions.map((pk) => ({ pk, sk: keys.customerKey.sortKey() })));
  const erased = partitions.filter((pk) => !existing.some((customer) => customer.pk === pk));
  for (const pk of erased) {
    const isErased = {
      TableName: table.name,
      Key: { pk, sk: keys.customerKey.sortKey() },
      ConditionExpression: 'attribute_not_exists(pk)',
    };
    const links = added
      .filter((link) => link.pk === pk)
      .map(({ sk }) => ({ Delete: { TableName: table.name, Key: { pk, sk } } }));
    for (const chunk of splitIntoChunks(links, maxTransactionWrites - 1)) {
      await tryWrite(async () => await table.transact([{ ConditionCheck: isErased }, ...chunk]));
    }
  }
}

const listStoredLinks = (stored: StoredPurchase | undefined): LinksBySortKey =>
  stored
    ? listLinks(
        stored.state.purchase,
        stored.state.transactions.map(({ transaction }) => transaction),
      )
    : new Map();

/** Selects the items whose keys are not in the table. */
export async function selectMissing<T extends Key>(table: Table, items: readonly T[]): Promise<T[]> {
  const toText = ({ pk, sk }: Item) => `${pk}\n${sk}`;
  const existing = new Set((await table.batchGet(items)).map(toText));
  return items.filter(({ pk, sk }) => !existing.has(toText({ pk, sk })));
}

export const rankSortKey = (
  { purchaseId, productId, isSubscription, sandbox, purchaseDate = 0 }: RankedPurchase,
  { phase, end }: { readonly phase: string; readonly end: EpochMillis },
): string => {
  const product = `${isSubscription ? subscriptionKind : otherKind}${toDigest(productId)}`;
  return keys.rankKey.sortKey(product, `${phase}${sandbox ? '-sandbox' : ''}`, end, purchaseDate, purchaseId);
};

/** Returns bounds that enclose the ranking of a rank. The first one is before its first rank. */
export const toRankingRange = (rankSk: string): [string, string] => {
  const { product, phase } = keys.rankKey.parseSortKey(rankSk);
  return keys.rankKey.range(product, phase);
};

/** Returns bounds that divide the ranks of a customer. A ranking is in one of them. */
export const listRankRanges = (products: 'all' | 'subscriptions'): [string, string][] =>
  (products === 'all' ? [subscriptionKind, otherKind] : [subscriptionKind]).flatMap((kind) =>
    digestStarts
      .slice(1)
      .map((until, index): [string, string] => [
        `${keys.rankKey.sortKey()}${kind}${digestStarts[index]}`,
        `${keys.rankKey.sortKey()}${kind}${until}`,
      ]),
  );

export const ownedTransactionSortKey = (transactionId: string, purchaseId: string, purchaseDate: EpochMillis): string =>
  keys.ownedTransactionKey.sortKey(purchaseDate, toDigest(JSON.stringify([transactionId, purchaseId])));

/** Links to owned purchases and transactions, and ranks of purchases. */
export const isPurchaseLink = (sk: string): boolean =>
  [keys.ownedPurchaseKey, keys.rankKey, keys.ownedTransactionKey].some((type) => sk.startsWith(type.sortKey()));

/** Returns the id of the purchase that a link to an owned purchase, or its rank, names. */
export function parseOwnedPurchaseId(sk: string): string {
  if (sk.startsWith(keys.rankKey.sortKey())) return keys.rankKey.parseSortKey(sk).purchaseId;
  // Earlier releases wrote links without a date.
  const link = /^P#(?:\d{13}#)?/.exec(sk);
  return sk.slice(link?.[0].length);
}
