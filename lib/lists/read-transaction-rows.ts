import { type FailedItem, requireAll } from '../foundation/failed-items.ts';
import type { DateRange, ListPage } from '../foundation/list-page.ts';
import type { Service } from '../foundation/service.ts';
import { listNotificationsByPurchase } from '../purchases/list-notifications.ts';
import type { PurchaseNotification } from '../purchases/purchase-contract.ts';
import { listTransactionsOfPurchases } from '../purchases/purchase-table.ts';
import { toNotificationRecord, toTransactionRecords } from '../purchases/to-records.ts';
import type { Transaction } from '../purchases/transaction.ts';
import type { TransactionRecord } from '../purchases/transaction-contract.ts';
import { findPurchasesOfRows, getTransactionPage } from './list-tables.ts';
import { attemptRows, toUnreadableIds } from './unreadable-rows.ts';

interface TransactionRowOptions {
  readonly includesNotifications: boolean;
  /** Rows list the customers who own the purchase. */
  readonly includesCustomers: boolean;
  /** Receives the transactions whose purchase is not readable. Without it, the list fails with the first one. */
  readonly failed?: FailedItem[];
}

/** Transactions of an app or a purchase, by their dates. */
interface TransactionListQuery extends DateRange {
  readonly skip: number;
  readonly limit: number;
  readonly purchaseId?: string | undefined;
}

/** `notifications` lists the lifecycle reasons of the transaction's purchase, `entitledUsers` its owners. */
type TransactionRow = TransactionRecord & { notifications?: PurchaseNotification[]; entitledUsers?: string[] };

/**
 * Lists a page of transactions, oldest first, each with the state of its purchase. Leaves out those that are not
 * readable, except for one purchase.
 */
export async function readTransactionRows(
  service: Service,
  appName: string,
  query: TransactionListQuery,
  options: TransactionRowOptions,
): Promise<ListPage<TransactionRow> & { readonly unreadableIds?: string[] }> {
  const { purchaseId, ...request } = query;
  if (purchaseId !== undefined) {
    const { rows, total } = await listTransactionsOfPurchase(service, appName, { ...request, purchaseId });
    return { rows: await addPurchases(service, appName, rows, options), total };
  }
  const { failed, attempt } = attemptRows(appName);
  const page = await getTransactionPage(service, appName, { ...request, now: service.now(), attempt });
  const rows = await addPurchases(service, appName, page.rows, { ...options, failed });
  return { rows, total: page.total, ...toUnreadableIds(failed) };
}

/** Converts transactions to records, each with the state of its purchase. */
export async function addPurchases(
  service: Service,
  appName: string,
  transactions: readonly Transaction[],
  { includesNotifications, includesCustomers, failed }: TransactionRowOptions,
): Promise<TransactionRow[]> {
  const purchaseIds = transactions.map((transaction) => transaction.purchaseId);
  const purchases = failed ? attemptRows(appName) : { failed: [], attempt: requireAll };
  const entitledPurchases = await findPurchasesOfRows(service, appName, purchaseIds, purchases.attempt);
  const notifications = includesNotifications
    ? await listNotificationsByPurchase(service, appName, purchaseIds, purchases.attempt)
    : undefined;
  const problems = new Map(purchases.failed.map(({ item, problem }) => [item, problem]));
  for (const { purchaseId, transactionId } of transactions) {
    const problem = problems.get(purchaseId);
    if (problem !== undefined) failed?.push({ item: transactionId, problem });
  }
  const records = toTransactionRecords(
    transactions.filter(({ purchaseId }) => !problems.has(purchaseId)),
    entitledPurchases.map(({ purchase }) => purchase),
  );
  const owners = new Map(entitledPurchases.map(({ purchase, entitledUsers }) => [purchase.purchaseId, entitledUsers]));
  return records.map((record) => ({
    ...record,
    ...(includesCustomers && { entitledUsers: [...(owners.get(record.purchaseId) ?? [])] }),
    ...(notifications && {
      notifications: (notifications.get(record.purchaseId) ?? []).map(toNotificationRecord),
    }),
  }));
}

/** Lists a page of the transactions of one purchase, oldest first. */
async function listTransactionsOfPurchase(
  service: Service,
  appName: string,
  {
    purchaseId,
    skip,
    limit,
    startdate = 0,
    enddate = Infinity,
  }: TransactionListQuery & { readonly purchaseId: string },
): Promise<ListPage<Transaction>> {
  const latestFirst = await listTransactionsOfPurchases(service, appName, [purchaseId]);
  const inRange = latestFirst
    .filter(({ purchaseDate }) => purchaseDate >= startdate && purchaseDate < enddate)
    .reverse();
  return { rows: inRange.slice(skip, skip + limit), total: inRange.length };
}
