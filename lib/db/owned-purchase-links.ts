import { isUnpaid, type Purchase } from '../purchases/purchase.ts';
import type { PurchaseChange, StoredPurchase } from '../purchases/purchase-change.ts';
import { listRanks } from '../purchases/purchase-rank.ts';
import type { Transaction } from '../purchases/transaction.ts';
import * as keys from './keys.ts';
import type { Item, Table, Write } from './table.ts';

/** The items that a purchase has in the partition of each entitled customer, by sort key, with their other attributes. */
type LinksBySortKey = ReadonlyMap<string, Item>;

/** Returns the links of a purchase and its transactions. The same for each of its customers. */
export function listLinks(purchase: Purchase, transactions: readonly Transaction[]): LinksBySortKey {
  const { purchaseId } = purchase;
  return new Map<string, Item>([
    ...listPurchaseSortKeys(purchase).map((sk): [string, Item] => [sk, {}]),
    ...transactions.map(({ transactionId, purchaseDate }): [string, Item] => [
      keys.ownedTransactionSortKey(transactionId, purchaseId, purchaseDate),
      { transactionId, purchaseId },
    ]),
  ]);
}

/** Returns the sort keys of the link to a purchase and of its ranks. An unpaid purchase is not a customer's latest purchase. */
export const listPurchaseSortKeys = (purchase: Purchase): string[] => [
  keys.ownedPurchaseSortKey(purchase.purchaseId, isUnpaid(purchase) ? 0 : (purchase.purchaseDate ?? 0)),
  ...listRanks(purchase).map((rank) => keys.rankSortKey(purchase, rank)),
];

/** Builds the writes that add the links of a change: all of them for a gained user, otherwise the new ones. */
export function buildLinkPuts(table: string, appName: string, change: PurchaseChange): Write[] {
  const { before, after, gainedUsers } = change;
  const links = listStoredLinks(after);
  const previous = listStoredLinks(before);
  const newLinks = [...links].filter(([sk]) => !previous.has(sk));
  return after.entitledUsers.flatMap((username) => {
    const pk = keys.customerPartition(appName, username);
    const puts = gainedUsers.includes(username) ? links : newLinks;
    return [...puts].map(([sk, attributes]) => ({
      Put: { TableName: table, Item: { pk, sk, version: after.version, ...attributes } },
    }));
  });
}

/** Builds the writes that delete the links that a change makes stale: all of them for a lost user. */
export function buildLinkDeletes(
  table: string,
  appName: string,
  { before, after, lostUsers }: PurchaseChange,
): Write[] {
  const previous = [...listStoredLinks(before).keys()];
  const links = listStoredLinks(after);
  const staleSortKeys = previous.filter((sk) => !links.has(sk));
  return (before?.entitledUsers ?? []).flatMap((username) => {
    const pk = keys.customerPartition(appName, username);
    const sortKeys = lostUsers.includes(username) ? previous : staleSortKeys;
    return sortKeys.map((sk) => ({ Delete: { TableName: table, Key: { pk, sk } } }));
  });
}

const listStoredLinks = (stored: StoredPurchase | undefined): LinksBySortKey =>
  stored
    ? listLinks(
        stored.state.purchase,
        stored.state.transactions.map(({ transaction }) => transaction),
      )
    : new Map();

/**
 * Adds the rankings of a purchase to its customers. Written before the change and without condition, because concurrent changes of
 * purchases of one product would conflict on it. Not deleted with the last purchase.
 */
export async function addRankings(
  table: Table,
  appName: string,
  { before, after, gainedUsers }: PurchaseChange,
): Promise<void> {
  const { purchase } = after.state;
  const previous = before ? listRankingSortKeys(before.state.purchase) : [];
  const isInSameRankings = listRankingSortKeys(purchase).every((sk) => previous.includes(sk));
  await addRankingsOfPurchase(table, appName, purchase, isInSameRankings ? gainedUsers : after.entitledUsers);
}

/** Adds the rankings of a purchase to customers who do not have them. */
export async function addRankingsOfPurchase(
  table: Table,
  appName: string,
  purchase: Purchase,
  usernames: readonly string[],
): Promise<void> {
  const itemKeys = usernames.flatMap((username) => {
    const pk = keys.customerPartition(appName, username);
    return listRankingSortKeys(purchase).map((sk) => ({ pk, sk }));
  });
  await table.batchPut(await selectMissing(table, itemKeys));
}

/** Selects the items whose keys are not in the table. */
export async function selectMissing<T extends keys.Key>(table: Table, items: readonly T[]): Promise<T[]> {
  const toText = ({ pk, sk }: Item) => `${pk}\n${sk}`;
  const existing = new Set((await table.batchGet(items)).map(toText));
  return items.filter(({ pk, sk }) => !existing.has(toText({ pk, sk })));
}

const listRankingSortKeys = (purchase: Purchase): string[] =>
  listRanks(purchase).map((rank) => keys.rankingSortKey(purchase, rank));
