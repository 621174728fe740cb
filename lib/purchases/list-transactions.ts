import type { PurchaseNotification, TransactionRecord } from '../api/purchase-records.ts';
import type { DateRange, ListPage } from '../shared/list-page.ts';
import type { EpochMillis } from '../shared/time.ts';
import { listNotificationsByPurchase } from './list-notifications.ts';
import type { PurchaseRepository } from './purchase-repository.ts';
import { toNotificationRecord, toTransactionRecords } from './to-records.ts';
import type { Transaction } from './transaction.ts';
import type { TransactionListRepository } from './transaction-list-repository.ts';

/** What `listTransactions` needs. */
interface TransactionListDeps {
  now(): EpochMillis;
  readonly purchases: PurchaseRepository;
  readonly transactionLists: TransactionListRepository;
}

interface TransactionListContext {
  readonly appName: string;
  readonly includesNotifications: boolean;
  readonly deps: TransactionListDeps;
}

/** Transactions of an app or a purchase, by their dates. */
interface TransactionListQuery extends DateRange {
  readonly skip: number;
  readonly limit: number;
  readonly purchaseId?: string | undefined;
}

/** `notifications` lists the lifecycle reasons of the transaction's purchase. */
type TransactionRow = TransactionRecord & { notifications?: PurchaseNotification[] };

/** Lists a page of transactions, oldest first, each with the state of its purchase. */
export async function listTransactions(
  query: TransactionListQuery,
  { appName, includesNotifications, deps }: TransactionListContext,
): Promise<ListPage<TransactionRow>> {
  const { purchaseId, ...request } = query;
  const { rows: transactions, total } =
    purchaseId === undefined
      ? await deps.transactionLists.getPage(appName, { ...request, now: deps.now() })
      : await listTransactionsOfPurchase(appName, { ...request, purchaseId }, deps);
  const purchaseIds = transactions.map((transaction) => transaction.purchaseId);
  const entitledPurchases = await deps.purchases.findMany(appName, purchaseIds);
  const notifications = includesNotifications
    ? await listNotificationsByPurchase(appName, purchaseIds, deps.purchases)
    : undefined;
  const records = toTransactionRecords(
    transactions,
    entitledPurchases.map(({ purchase }) => purchase),
  );
  const rows = records.map((record) => ({
    ...record,
    ...(notifications && {
      notifications: (notifications.get(record.purchaseId) ?? []).map(toNotificationRecord),
    }),
  }));
  return { rows, total };
}

/** Lists a page of the transactions of one purchase, oldest first. */
async function listTransactionsOfPurchase(
  appName: string,
  {
    purchaseId,
    skip,
    limit,
    startdate = 0,
    enddate = Infinity,
  }: TransactionListQuery & { readonly purchaseId: string },
  { purchases }: Pick<TransactionListDeps, 'purchases'>,
): Promise<ListPage<Transaction>> {
  const latestFirst = await purchases.listTransactions(appName, [purchaseId]);
  const inRange = latestFirst
    .filter(({ purchaseDate }) => purchaseDate >= startdate && purchaseDate < enddate)
    .reverse();
  return { rows: inRange.slice(skip, skip + limit), total: inRange.length };
}
