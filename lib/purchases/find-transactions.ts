import type { CursorPage } from '../shared/cursor-page.ts';
import type { DateRange } from '../shared/list-page.ts';
import type { Platform } from '../shared/platform.ts';
import { matchesProduct } from './matches-product.ts';
import type { OwnedPurchaseRepository } from './owned-purchase-repository.ts';
import { listRefundedAmounts } from './refunds.ts';
import type { Transaction } from './transaction.ts';
import type { TransactionListRepository } from './transaction-list-repository.ts';

/** The members of a transaction that a list can be filtered by. */
interface TransactionFilter extends DateRange {
  readonly username?: string | undefined;
  readonly platform?: Platform | undefined;
  readonly productId?: string | undefined;
  readonly isRefunded?: boolean | undefined;
  readonly isSandbox?: boolean | undefined;
}

/** What `findTransactions` needs. */
interface TransactionSearchDeps {
  readonly ownedPurchases: Pick<OwnedPurchaseRepository, 'findTransactions'>;
  readonly transactionLists: Pick<TransactionListRepository, 'find'>;
}

interface TransactionSearch {
  readonly filter: TransactionFilter;
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Maximum number of transactions that a page reads. */
const maxScanned = 1_000;

/** Finds the transactions that match, by purchase date. With a customer, reads the customer's partition. */
export async function findTransactions(
  appName: string,
  { filter, ...page }: TransactionSearch,
  { ownedPurchases, transactionLists }: TransactionSearchDeps,
): Promise<CursorPage<Transaction>> {
  const { startdate, enddate, username } = filter;
  const search = {
    ...page,
    startdate,
    enddate,
    maxScanned: Math.max(maxScanned, page.limit),
    matches: (transaction: Transaction) => matchesFilter(transaction, filter),
  };
  return username === undefined
    ? await transactionLists.find(appName, search)
    : await ownedPurchases.findTransactions(appName, username, search);
}

function matchesFilter(
  transaction: Transaction,
  { platform, productId, isRefunded, isSandbox }: TransactionFilter,
): boolean {
  return (
    (platform === undefined || transaction.platform === platform) &&
    (productId === undefined || matchesProduct(transaction.productId, productId)) &&
    (isRefunded === undefined || listRefundedAmounts(transaction).length > 0 === isRefunded) &&
    (isSandbox === undefined || transaction.sandbox === isSandbox)
  );
}
