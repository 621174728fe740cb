import pMap from 'p-map';
import * as v from 'valibot';
import * as keys from '../foundation/keys.ts';
import { readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Item, Table } from '../foundation/table.ts';
import type {
  OwnedPurchaseRepository,
  OwnedTransactions,
  TransactionPage,
} from '../purchases/owned-purchase-repository.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { compareByPurchaseDate } from '../purchases/purchase-rank.ts';
import type { EntitledPurchase } from '../purchases/purchase-repository.ts';
import type { Transaction } from '../purchases/transaction.ts';
import type { CursorPage } from '../shared/cursor-page.ts';
import type { RowSearch } from '../shared/list-page.ts';
import { parse } from '../shared/parse.ts';
import { listPurchaseSortKeys } from './owned-purchase-links.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import { parseTransactionItem } from './transaction-repository.ts';

/** Bounds of the reads. Tests lower them. */
interface OwnedPurchaseBounds {
  /** Maximum number of purchases that are all read. */
  readonly purchases: number;
  /** Maximum number of rankings that are read in each range of the products' digests. */
  readonly rankings: number;
  /** Maximum number of links to purchases and transactions, ranks included, that a single query reads. */
  readonly links: number;
}

const defaultBounds: OwnedPurchaseBounds = { purchases: 100, rankings: 250, links: 100 };
const maxListedPurchases = 10_000;
/** Number of queries that run concurrently for one customer. */
const concurrency = 50;
/** Factor by which more entries are read if all that were read are stale. */
const growthFactor = 8;

const TransactionLink = v.object({ transactionId: v.string(), purchaseId: v.string() });

export function createOwnedPurchaseRepository(table: Table, bounds = defaultBounds): OwnedPurchaseRepository {
  const queryPurchaseLinks = async ({ partition }: Owner): Promise<Item[]> => {
    const range = { partition, between: keys.toPrefixRange(keys.ownedPurchasePrefix) };
    return await table.query({ ...range, newestFirst: true, limit: bounds.purchases + 1 });
  };
  const listRepresentatives = async (
    owner: Owner,
    links: readonly Item[],
    products: 'all' | 'subscriptions' = 'all',
  ): Promise<Purchase[]> => {
    if (links.length <= bounds.purchases) {
      const stored = await loadPurchases(table, owner.appName, links.map(toPurchaseId));
      return selectEntitled(owner, stored.values());
    }
    const rankings = await pMap(
      keys.listRankRanges(products),
      async (range) => await findRankings(table, owner, range, bounds.rankings),
      { concurrency },
    );
    const latestFirst: Ranking = { between: keys.datedPurchaseRange };
    return await findFirstPurchases(table, owner, [latestFirst, ...rankings.flat()]);
  };
  return {
    async listRepresentativePurchases(appName, username, products = 'all') {
      const owner = createOwner(appName, username);
      return await listRepresentatives(owner, await queryPurchaseLinks(owner), products);
    },
    async listWithTransactions(appName, username, page) {
      const owner = createOwner(appName, username);
      const [purchaseLinks, links] =
        (await queryFewLinks(table, owner, { ...page, maxLinks: bounds.links })) ??
        (await Promise.all([queryPurchaseLinks(owner), queryTransactionLinks(table, owner, page)]));
      if (purchaseLinks.length <= bounds.purchases) {
        // One read for both, because most purchases of a page are representative.
        const loaded = await loadOwnedTransactions(table, owner, {
          links: links.slice(page.skip),
          purchaseIds: purchaseLinks.map(toPurchaseId),
        });
        const purchases = loaded.purchases.toSorted(compareByPurchaseDate);
        if (isComplete(loaded, links, page)) return { ...loaded, purchases };
      }
      const [purchases, { transactions }] = await Promise.all([
        listRepresentatives(owner, purchaseLinks),
        listOwnedTransactions(table, owner, page),
      ]);
      return { transactions, purchases };
    },
    async listPurchaseIds(appName, username) {
      const range = {
        partition: keys.customerPartition(appName, username),
        between: keys.toPrefixRange(keys.ownedPurchasePrefix),
      };
      const links = await table.query({ ...range, newestFirst: true, limit: maxListedPurchases });
      return [...new Set(links.reverse().map(toPurchaseId))];
    },
    async listTransactions(appName, username, page) {
      const { transactions } = await listOwnedTransactions(table, createOwner(appName, username), page);
      return [...transactions];
    },
    listTransactionPage: async (appName, username, page) =>
      await listOwnedTransactions(table, createOwner(appName, username), page),
    findTransactions: async (appName, username, search) =>
      await findOwnedTransactions(table, createOwner(appName, username), search),
  };
}

interface Owner {
  readonly appName: string;
  readonly username: string;
  readonly partition: string;
}

const createOwner = (appName: string, username: string): Owner => ({
  appName,
  username,
  partition: keys.customerPartition(appName, username),
});

const isEntitled = ({ username }: Owner, { entitledUsers }: EntitledPurchase): boolean =>
  entitledUsers.includes(username);

const toPurchaseId = ({ sk }: Item): string => keys.parseOwnedPurchaseId(String(sk));

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
    const between = keys.toRankingRange(String(first.sk));
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
async function listOwnedTransactions(
  table: Table,
  owner: Owner,
  { skip, limit }: TransactionPage,
): Promise<OwnedTransactions> {
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
  const range = { partition, between: keys.toPrefixRange(keys.ownedTransactionPrefix), newestFirst: true };
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
  const range = { partition, between: keys.ownedLinkRange, newestFirst: true };
  const items = await table.query({ ...range, limit: maxLinks + 1 });
  if (items.length > maxLinks) return undefined;
  const selectLinks = (prefix: string) => items.filter(({ sk }) => String(sk).startsWith(prefix));
  const transactionLinks = selectLinks(keys.ownedTransactionPrefix).slice(0, skip + limit);
  return [selectLinks(keys.ownedPurchasePrefix), transactionLinks];
}

/** Whether a page has all of its transactions: it is full, or there are no other links. */
const isComplete = (
  { transactions }: OwnedTransactions,
  links: readonly Item[],
  { skip, limit }: TransactionPage,
): boolean => transactions.length >= limit || links.length < skip + limit;

/** Finds transactions by the links of the customer's partition. */
async function findOwnedTransactions(
  table: Table,
  owner: Owner,
  { limit, cursor, order, maxScanned, matches, ...range }: RowSearch<Transaction>,
): Promise<CursorPage<Transaction>> {
  const newestFirst = order === 'newest';
  const prefix = keys.ownedTransactionPrefix;
  const readBefore = async (position: string | undefined, count: number) => {
    const [first, last] = keys.timestampRange(range, newestFirst ? position : undefined);
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
  keys.ownedTransactionSortKey(transactionId, purchaseId, purchaseDate);
