import { getProduct } from '../product.ts';
import { apiError } from './api-error.ts';
import { getOwnershipType } from './payloads.ts';
import type { Account } from './records.ts';
import { listPurchases, type OwnedTransaction, type StoreState } from './store-state.ts';

const maxPageSize = 20;

const productTypes = {
  AUTO_RENEWABLE: 'paid subscription',
  NON_RENEWABLE: 'non renewing subscription',
  CONSUMABLE: 'consumable',
  NON_CONSUMABLE: 'non consumable',
} as const;

/** Page of transactions with the revision of the next page. */
export interface HistoryPage {
  readonly items: readonly OwnedTransaction[];
  readonly revision: string;
  readonly hasMore: boolean;
}

/** Lists all transactions of an account by time of modification, the oldest first. */
export const listTransactions = (state: StoreState, account: Account): OwnedTransaction[] =>
  listPurchases(state, account.id)
    .flatMap((purchase) => purchase.transactions.map((transaction) => ({ account, purchase, transaction })))
    .sort(compareByChange);

/**
 * Filters and sorts transactions by the query parameters.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
 */
export function filterTransactions(
  state: StoreState,
  transactions: readonly OwnedTransaction[],
  query: URLSearchParams,
): OwnedTransaction[] {
  const filters = [
    createDateFilter(query),
    createProductFilter(state, query),
    createOwnershipFilter(query),
    createRevocationFilter(query),
  ];
  const matches = transactions.filter((owned) => filters.every((filter) => filter(owned)));
  const sort = parseChoice(query, 'sort', ['ASCENDING', 'DESCENDING'], 4000021);
  return sort === 'DESCENDING' ? matches.reverse() : matches;
}

/** Returns the page after the query's revision. */
export function toPage(
  transactions: readonly OwnedTransaction[],
  query: URLSearchParams,
  pageSize = maxPageSize,
): HistoryPage {
  const start = findStart(transactions, query.get('revision'));
  const page = transactions.slice(start, start + pageSize);
  const last = page.at(-1) ?? transactions.at(-1);
  return { items: page, revision: last ? toRevision(last) : '', hasMore: start + pageSize < transactions.length };
}

const compareByChange = (a: OwnedTransaction, b: OwnedTransaction): number =>
  a.transaction.changedAt - b.transaction.changedAt ||
  Number(BigInt(a.transaction.transactionId) - BigInt(b.transaction.transactionId));

const toRevision = ({ transaction }: OwnedTransaction): string =>
  `${transaction.changedAt}_${transaction.transactionId}`;

function findStart(transactions: readonly OwnedTransaction[], revision: string | null): number {
  if (revision === null) return 0;
  const [, transactionId] = /^\d+_(\d+)$/.exec(revision) ?? [];
  const last = transactions.findIndex(({ transaction }) => transaction.transactionId === transactionId);
  if (last === -1) throw apiError(4000005, 'Invalid request revision.');
  return last + 1;
}

type Filter = (owned: OwnedTransaction) => boolean;

function createDateFilter(query: URLSearchParams): Filter {
  const start = parseMillis(query, 'startDate', 4000015) ?? 0;
  const end = parseMillis(query, 'endDate', 4000016) ?? Number.POSITIVE_INFINITY;
  if (start > end) throw apiError(4000013, 'Invalid request. The end date precedes the start date.');
  return ({ transaction: { purchaseDate } }) => start <= purchaseDate && purchaseDate < end;
}

function createProductFilter(state: StoreState, query: URLSearchParams): Filter {
  const ids = query.getAll('productId');
  const groups = query.getAll('subscriptionGroupIdentifier');
  const types = query.getAll('productType').map((name) => {
    if (!isProductType(name)) throw apiError(4000022, 'Invalid request. The product type parameter is invalid.');
    return productTypes[name];
  });
  return ({ transaction: { productId } }) => {
    const { type, group = '' } = getProduct(state, productId);
    return includesOrEmpty(ids, productId) && includesOrEmpty(groups, group) && includesOrEmpty(types, type);
  };
}

function createOwnershipFilter(query: URLSearchParams): Filter {
  const requested = parseChoice(query, 'inAppOwnershipType', ['PURCHASED', 'FAMILY_SHARED', 'ASSIGNED'], 4000026);
  return ({ purchase }) => !requested || requested === getOwnershipType(purchase);
}

function createRevocationFilter(query: URLSearchParams): Filter {
  const requested = parseChoice(query, 'revoked', ['true', 'false'], 4000030);
  return ({ transaction }) => !requested || requested === String(transaction.revocation !== undefined);
}

const includesOrEmpty = (allowed: readonly string[], value: string): boolean =>
  allowed.length === 0 || allowed.includes(value);

const isProductType = (name: string): name is keyof typeof productTypes => Object.hasOwn(productTypes, name);

function parseChoice(
  query: URLSearchParams,
  name: string,
  allowed: readonly string[],
  errorCode: number,
): string | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!allowed.includes(value)) throw apiError(errorCode, `Invalid request. The ${name} parameter is invalid.`);
  return value;
}

function parseMillis(query: URLSearchParams, name: string, errorCode: number): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value))
    throw apiError(errorCode, `Invalid request. The ${name} is not a time in milliseconds.`);
  return Number(value);
}
