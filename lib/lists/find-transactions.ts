import type { Attempt } from '../foundation/failed-items.ts';
import type { DateRange } from '../foundation/list-page.ts';
import type { Platform } from '../foundation/platform.ts';
import type { CursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import { matchesProduct } from '../purchases/matches-product.ts';
import { findOwnedTransactions } from '../purchases/owned-purchase-table.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { findListedTransactions } from './list-tables.ts';

/** The members of a transaction that a list can be filtered by. */
interface TransactionFilter extends DateRange {
  readonly username?: string | undefined;
  readonly platform?: Platform | undefined;
  readonly productId?: string | undefined;
  readonly isRefunded?: boolean | undefined;
  readonly isSandbox?: boolean | undefined;
}

interface TransactionSearch {
  readonly filter: TransactionFilter;
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** For a list without a customer, which leaves out rows that are not readable. */
  readonly attempt?: Attempt;
}

/** Maximum number of transactions that a page reads. */
const maxScanned = 1_000;

/** Finds the transactions that match, by purchase date. With a customer, reads the customer's partition. */
export async function findTransactions(
  service: Service,
  appName: string,
  { filter, attempt, ...page }: TransactionSearch,
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
    ? await findListedTransactions(service, appName, { ...search, attempt })
    : await findOwnedTransactions(service, appName, username, search);
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
