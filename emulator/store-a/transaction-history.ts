import { apiError } from './api-error.ts';
import type { Account } from './records.ts';
import { getProduct, listPurchases, type OwnedTransaction, type StoreState } from './store-state.ts';

const pageSize = 20;

const productTypes = {
  AUTO_RENEWABLE: 'paid subscription',
  NON_RENEWABLE: 'non renewing subscription',
  CONSUMABLE: 'consumable',
  NON_CONSUMABLE: 'non consumable',
} as const;

/** One page of transactions, and where the next one starts. */
export interface HistoryPage {
  readonly items: readonly OwnedTransaction[];
  readonly revision: string;
  readonly hasMore: boolean;
}

/** All transactions of the account, those that the store touched last at the end. */
export const listTransactions = (state: StoreState, account: Account): OwnedTransaction[] =>
  listPurchases(state, account.id)
    .flatMap((purchase) => purchase.transactions.map((transaction) => ({ account, purchase, transaction })))
    .sort(compareByChange);

/** The transactions that pass the filters of the query, in its order. */
export function filterTransactions(
  state: StoreState,
  all: readonly OwnedTransaction[],
  query: URLSearchParams,
): OwnedTransaction[] {
  const passes = [betweenDates(query), ofProduct(state, query), ofOwnership(query), ofRevocation(query)];
  const found = all.filter((one) => passes.every((pass) => pass(one)));
  return choice(query, 'sort', ['ASCENDING', 'DESCENDING'], 4000021) === 'DESCENDING' ? found.reverse() : found;
}

/** The page that follows the query's revision. */
export function toPage(found: readonly OwnedTransaction[], query: URLSearchParams): HistoryPage {
  const start = findStart(found, query.get('revision'));
  const page = found.slice(start, start + pageSize);
  const last = page.at(-1) ?? found.at(-1);
  return { items: page, revision: last ? toRevision(last) : '', hasMore: start + pageSize < found.length };
}

const compareByChange = (a: OwnedTransaction, b: OwnedTransaction): number =>
  a.transaction.changedAt - b.transaction.changedAt ||
  Number(BigInt(a.transaction.transactionId) - BigInt(b.transaction.transactionId));

const toRevision = ({ transaction }: OwnedTransaction): string =>
  `${transaction.changedAt}_${transaction.transactionId}`;

function findStart(found: readonly OwnedTransaction[], revision: string | null): number {
  if (revision === null) return 0;
  const [, transactionId] = /^\d+_(\d+)$/.exec(revision) ?? [];
  const last = found.findIndex(({ transaction }) => transaction.transactionId === transactionId);
  if (last === -1) throw apiError(4000005, 'Invalid request revision.');
  return last + 1;
}

type Filter = (found: OwnedTransaction) => boolean;

function betweenDates(query: URLSearchParams): Filter {
  const start = millis(query, 'startDate', 4000015) ?? 0;
  const end = millis(query, 'endDate', 4000016) ?? Number.POSITIVE_INFINITY;
  if (start > end) throw apiError(4000013, 'Invalid request. The end date precedes the start date.');
  return ({ transaction: { purchaseDate } }) => start <= purchaseDate && purchaseDate < end;
}

function ofProduct(state: StoreState, query: URLSearchParams): Filter {
  const ids = query.getAll('productId');
  const groups = query.getAll('subscriptionGroupIdentifier');
  const types = query.getAll('productType').map((name) => {
    if (!isProductType(name)) throw apiError(4000022, 'Invalid request. The product type parameter is invalid.');
    return productTypes[name];
  });
  return ({ transaction: { productId } }) => {
    const { type, group = '' } = getProduct(state, productId);
    return among(ids, productId) && among(groups, group) && among(types, type);
  };
}

function ofOwnership(query: URLSearchParams): Filter {
  const wanted = choice(query, 'inAppOwnershipType', ['PURCHASED', 'FAMILY_SHARED'], 4000026);
  return ({ purchase }) => !wanted || wanted === (purchase.sharedFrom === undefined ? 'PURCHASED' : 'FAMILY_SHARED');
}

function ofRevocation(query: URLSearchParams): Filter {
  const wanted = choice(query, 'revoked', ['true', 'false'], 4000030);
  return ({ transaction }) => !wanted || wanted === String(transaction.revocation !== undefined);
}

const among = (wanted: readonly string[], value: string): boolean => wanted.length === 0 || wanted.includes(value);

const isProductType = (name: string): name is keyof typeof productTypes => Object.hasOwn(productTypes, name);

function choice(
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

function millis(query: URLSearchParams, name: string, errorCode: number): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value))
    throw apiError(errorCode, `Invalid request. The ${name} is not a time in milliseconds.`);
  return Number(value);
}
