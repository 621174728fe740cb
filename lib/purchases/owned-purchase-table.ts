import pMap from 'p-map';
import { timestampRange } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { RowSearch } from '../foundation/list-page.ts';
import { parse } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import {
  datedPurchaseRange,
  listPurchaseSortKeys,
  listRankRanges,
  ownedLinkRange,
  ownedTransactionSortKey,
  parseOwnedPurchaseId,
  TransactionLink,
  toRankingRange,
} from './owned-purchase-links.ts';
import type { Purchase } from './purchase.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import { compareByPurchaseDate } from './purchase-rank.ts';
import type { EntitledPurchase } from './stored-purchase.ts';
import type { Transaction } from './transaction.ts';
import { parseTransactionItem } from './transaction-item.ts';

/*
 * Reads of the purchases that entitle a customer. The cost does not grow with their number: see
 * docs/decisions/customer-purchases.md.
 */

export interface TransactionPage {
  readonly skip: number;
  readonly limit: number;
}

export interface OwnedTransactions {
  readonly transactions: readonly Transaction[];
  readonly purchases: readonly Purchase[];
}

/** Bounds of the reads. Tests lower them. */
export const readBounds = perContainer(() => ({
  /** Maximum number of purchases that are all read. */
  purchases: 100,
  /** Maximum number of rankings that are read in each range of the products' digests. */
  rankings: 250,
  /** Maximum number of links to purchases and transactions, ranks included, that a single query reads. */
  links: 100,
}));
const maxListedPurchases = 10_000;

/** Number of queries that run concurrently for one customer. */
const concurrency = 50;

/** Factor by which more entries are read if all that were read are stale. */
const growthFactor = 8;

/**
 * Lists the purchases that decide every response about the customer, at any time. Returns all purchases if there are
 * at most 100, otherwise the latest purchase and the best ones of each product, in and out of the sandbox.
 * `subscriptions` leaves out other products.
 */
export async function listRepresentativePurchases(
  service: Service,
  appName: string,
  username: string,
  products: 'all' | 'subscriptions' = 'all',
): Promise<Purchase[]> {
  const owner = createOwner(appName, username);
  return await listRepresentatives(service, owner, await queryPurchaseLinks(service, owner), products);
}

/**
 * Lists the ids of the purchases with the latest purchase dates, at most 10,000, oldest first. Some can be lost
 * since.
 */
export async function listOwnedPurchaseIds({ table }: Service, appName: string, username: string): Promise<string[]> {
  const range = {
    partition: keys.customerKey.partition(appName, username),
    between: keys.ownedPurchaseKey.range(),
  };
  const links = await table.query({ ...range, newestFirst: true, limit: maxListedPurchases });
  return [...new Set(links.reverse().map(toPurchaseId))];
}

/** Lists a page of the transactions of the customer's purchases, latest first. */
export async function listOwnedTransactions(
  { table }: Service,
  appName: string,
  username: string,
  page: TransactionPage,
): Promise<Transaction[]> {
  const { transactions } = await readPage(table, createOwner(appName, username), page);
  return [...transactions];
}

/** Lists the same page, with the representative purchases of the customer. */
export async function listOwnedWithTransactions(
  service: Service,
  appName: string,
  username: string,
  page: TransactionPage,
): Promise<OwnedTransactions> {
  const owner = createOwner(appName, username);
  const [purchaseLinks, links] =
    (await queryFewLinks(service.table, owner, { ...page, maxLinks: readBounds(service).links })) ??
    (await Promise.all([queryPurchaseLinks(service, owner), queryTransactionLinks(service.table, owner, page)]));
  if (purchaseLinks.length <= readBounds(service).purchases) {
    // One read for both, because most purchases of a page are representative.
    const loaded = await loadOwnedTransactions(service.table, owner, {
      links: links.slice(page.skip),
      purchaseIds: purchaseLinks.map(toPurchaseId),
    });
    const purchases = loaded.purchases.toSorted(compareByPurchaseDate);
    if (isComplete(loaded, links, page)) return { ...loaded, purchases };
  }
  const [purchases, { transactions }] = await Promise.all([
    listRepresentatives(service, owner, purchaseLinks),
    readPage(service.table, owner, page),
  ]);
  return { transactions, purchases };
}

/** Lists the same page, with the purchases of its transactions. */
export async function listOwnedTransactionPage(
  { table }: Service,
  appName: string,
  username: string,
  page: TransactionPage,
): Promise<OwnedTransactions> {
  return await readPage(table, createOwner(appName, username), page);
}

/** Finds the transactions of the customer's purchases that match, by purchase date. */
export async function findOwnedTransactions(
  { table }: Service,
  appName: string,
  username: string,
  search: RowSearch<Transaction>,
): Promise<CursorPage<Transaction>> {
  return await searchLinks(table, createOwner(appName, username), search);
}

async function queryPurchaseLinks(service: Service, { partition }: Owner): Promise<Item[]> {
  const range = { partition, between: keys.ownedPurchaseKey.range() };
  return await service.table.query({ ...range, newestFirst: true, limit: readBounds(service).purchases + 1 });
}

async function listRepresentatives(
  service: Service,
  owner: Owner,
  links: readonly Item[],
  products: 'all' | 'subscriptions' = 'all',
): Promise<Purchase[]> {
  const { table } = service;
  const bounds = readBounds(service);
  if (links.length <= bounds.purchases) {
    const stored = await loadPurchases(table, owner.appName, links.map(toPurchaseId));
    return selectEntitled(owner, stored.values());
  }
  const rankings = await pMap(
    listRankRanges(products),
    async (range) => await findRankings(table, owner, range, bounds.rankings),
    { concurrency },
  );
  const latestFirst: Ranking = { between: datedPurchaseRange };
  return await findFirstPurchases(table, owner, [latestFirst, ...rankings.flat()]);
}

interface Owner {
  readonly appName: string;
  readonly username: string;
  readonly partition: string;
}

const createOwner = (appName: string, username: string): Owner => ({
  appName,
  username,
  partition: keys.customerKey.partition(appName, username),
});

const isEntitled = ({ username }: Owner, { entitledUsers }: EntitledPurchase): boolean =>
  entitledUsers.includes(username);

const toPurchaseId = ({ sk }: Item): string => parseOwnedPurchaseId(String(sk));

/** Returns the purchases that entitle the customer, latest purchase date first. */
const selectEntitled = (owner: Owner, stored: Iterable<EntitledPurchase>): Purchase[] =>
  [...stored]
    .filter((entitled) => isEntitled(owner, entitled))
    .map(({ purchase }) => purchase)
    .sort(compareByPurchaseDate);

async function loadPurchases(
  table: Table,
  appName: string,
  purchaseIds: readonly string[],
): Promise<Map<string, EntitledPurchase>> {
  const items = await table.batchGet([...new Set(purchaseIds)].map((id) => keys.purchaseKey(appName, id)));
  return new Map(items.map(parsePurchaseItem).map((stored) => [stored.purchase.purchaseId, stored]));
}

/** A range of a customer's partition whose entries name purchases, the best one last. */
interface Ranking {
  readonly between: readonly [string, string];
  /** The best entry, if it has been read. */
  readonly first?: Item;
}

/** Finds the rankings in a range of the customer's ranks. Each query skips the rest of a ranking. */
async function findRankings(
  table: Table,
  { partition }: Owner,
  [from, until]: readonly [string, string],
  limit: number,
): Promise<Ranking[]> {
  const rankings: Ranking[] = [];
  for (let end = until; rankings.length < limit; ) {
    const [first] = await table.query({ partition, between: [from, end], newestFirst: true, limit: 1 });
    if (!first) break;
    const between = toRankingRange(String(first.sk));
    rankings.push({ between, first });
    [end] = between;
  }
  return rankings;
}

/**
 * Finds the first purchase of each ranking, and returns all purchases that were read. An entry of a split change can be
 * stale, so more entries are read until one matches its purchase: every purchase has an entry at its current place.
 */
async function findFirstPurchases(table: Table, owner: Owner, rankings: readonly Ranking[]): Promise<Purchase[]> {
  const found = new Map<string, EntitledPurchase>();
  let open = rankings;
  for (let limit = 1; open.length > 0; limit *= growthFactor) {
    const lists = await pMap(
      open,
      async ({ between, first }) =>
        limit === 1 && first
          ? [first]
          : await table.query({ partition: owner.partition, between, newestFirst: true, limit }),
      { concurrency },
    );
    const newIds = lists
      .flat()
      .map(toPurchaseId)
      .filter((id) => !found.has(id));
    for (const [id, stored] of await loadPurchases(table, owner.appName, newIds)) found.set(id, stored);
    const isCurrent = (entry: Item): boolean => {
      const stored = found.get(toPurchaseId(entry));
      return (
        stored !== undefined &&
        isEntitled(owner, stored) &&
        listPurchaseSortKeys(stored.purchase).includes(String(entry.sk))
      );
    };
    open = open.filter((_ranking, index) => lists[index]?.length === limit && !lists[index]?.some(isCurrent));
  }
  return selectEntitled(owner, found.values());
}

/** Reads more links if some are stale. `skip` counts links. */
async function readPage(table: Table, owner: Owner, { skip, limit }: TransactionPage): Promise<OwnedTransactions> {
  for (let wanted = limit; ; wanted *= growthFactor) {
    const page = { skip, limit: wanted };
    const links = await queryTransactionLinks(table, owner, page);
    const loaded = await loadOwnedTransactions(table, owner, { links: links.slice(skip) });
    if (loaded.transactions.length >= limit || isComplete(loaded, links, page))
      return { transactions: loaded.transactions.slice(0, limit), purchases: loaded.purchases };
  }
}

const queryTransactionLinks = async (
  table: Table,
  { partition }: Owner,
  { skip, limit }: TransactionPage,
): Promise<Item[]> => {
  const range = { partition, between: keys.ownedTransactionKey.range(), newestFirst: true };
  return await table.query({ ...range, limit: skip + limit });
};

/**
 * Reads the links of purchases and of a page of transactions in one query. Returns undefined if there are more than
 * `maxLinks`.
 */
async function queryFewLinks(
  table: Table,
  { partition }: Owner,
  { skip, limit, maxLinks }: TransactionPage & { readonly maxLinks: number },
): Promise<[purchases: Item[], transactions: Item[]] | undefined> {
  const range = { partition, between: ownedLinkRange, newestFirst: true };
  const items = await table.query({ ...range, limit: maxLinks + 1 });
  if (items.length > maxLinks) return undefined;
  const selectLinks = (prefix: string) => items.filter(({ sk }) => String(sk).startsWith(prefix));
  const transactionLinks = selectLinks(keys.ownedTransactionKey.sortKey()).slice(0, skip + limit);
  return [selectLinks(keys.ownedPurchaseKey.sortKey()), transactionLinks];
}

/** The page is full, or the links end. */
const isComplete = (
  { transactions }: OwnedTransactions,
  links: readonly Item[],
  { skip, limit }: TransactionPage,
): boolean => transactions.length >= limit || links.length < skip + limit;

/** Finds transactions by the links of the customer's partition. */
async function searchLinks(
  table: Table,
  owner: Owner,
  { limit, cursor, order, maxScanned, matches, ...range }: RowSearch<Transaction>,
): Promise<CursorPage<Transaction>> {
  const newestFirst = order === 'newest';
  const prefix = keys.ownedTransactionKey.sortKey();
  const readBefore = async (position: string | undefined, count: number) => {
    const [first, last] = timestampRange(range, newestFirst ? position : undefined);
    const from = !newestFirst && position !== undefined && position >= first ? `${position}\0` : first;
    if (from >= last) return [];
    const between = [`${prefix}${from}`, `${prefix}${last}`] as const;
    const links = await table.query({ partition: owner.partition, between, limit: count + 1, newestFirst });
    return links
      .map((link) => ({ sortKey: String(link.sk).slice(prefix.length), link }))
      .filter(({ sortKey }) => sortKey !== position && sortKey < last)
      .slice(0, count);
  };
  const load = async (entries: readonly { readonly sortKey: string; readonly link: Item }[]) => {
    const { transactions } = await loadOwnedTransactions(table, owner, { links: entries.map(({ link }) => link) });
    const bySortKey = new Map(transactions.map((transaction) => [toTransactionSortKey(transaction), transaction]));
    return await Promise.all(
      entries.map(async ({ link }) => {
        const transaction = bySortKey.get(String(link.sk));
        return transaction && (await matches(transaction)) ? transaction : undefined;
      }),
    );
  };
  return await readCursorPage({ readBefore, load }, { limit, cursor, maxScanned });
}

/**
 * Loads the transactions of the links with their purchases, and further purchases. Leaves out stale links, and
 * purchases that do not entitle the customer.
 */
async function loadOwnedTransactions(
  table: Table,
  owner: Owner,
  {
    links,
    purchaseIds: furtherIds = [],
  }: { readonly links: readonly Item[]; readonly purchaseIds?: readonly string[] },
): Promise<OwnedTransactions> {
  const { appName } = owner;
  const ids = new Map(
    links.map((link) => [
      JSON.stringify([link.purchaseId, link.transactionId]),
      parse(TransactionLink, link, 'DatabaseError'),
    ]),
  );
  const purchaseIds = new Set([...furtherIds, ...[...ids.values()].map(({ purchaseId }) => purchaseId)]);
  const items = await table.batchGet([
    ...[...purchaseIds].map((id) => keys.purchaseKey(appName, id)),
    ...[...ids.values()].map(({ purchaseId, transactionId }) =>
      keys.transactionKey(appName, purchaseId, transactionId),
    ),
  ]);
  const isPurchase = ({ transaction }: Item): boolean => transaction === undefined;
  const purchases = items.filter(isPurchase).map(parsePurchaseItem);
  const entitling = new Map(
    purchases.filter((stored) => isEntitled(owner, stored)).map(({ purchase }) => [purchase.purchaseId, purchase]),
  );
  const transactions = new Map(
    items
      .filter((item) => !isPurchase(item))
      .map(parseTransactionItem)
      .map((transaction) => [toTransactionSortKey(transaction), transaction]),
  );
  return {
    transactions: links.flatMap(({ sk }) => {
      const transaction = transactions.get(String(sk));
      return transaction && entitling.has(transaction.purchaseId) ? [transaction] : [];
    }),
    purchases: [...entitling.values()],
  };
}

const toTransactionSortKey = ({ transactionId, purchaseId, purchaseDate }: Transaction): string =>
  ownedTransactionSortKey(transactionId, purchaseId, purchaseDate);
