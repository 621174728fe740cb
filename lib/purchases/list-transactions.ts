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
  readonly transactionLists: Pick<TransactionListRepository, 'getPage'>;
}

interface TransactionListContext {
  readonly appName: string;
  readonly includesNotifications: boolean;
  /** Whether rows list the customers who own the purchase. */
  readonly includesCustomers: boolean;
  readonly deps: TransactionListDeps;
}

/** Transactions of an app or a purchase, by their dates. */
interface TransactionListQuery extends DateRange {
  readonly skip: number;
  readonly limit: number;
  readonly purchaseId?: string | undefined;
}

/** `notifications` lists the lifecycle reasons of the transaction's purchase, `entitledUsers` its owners. */
type TransactionRow = TransactionRecord & { notifications?: PurchaseNotification[]; entitledUsers?: string[] };

/** Lists a page of transactions, oldest first, each with the state of its purchase. */
export async function listTransactions(
  query: TransactionListQuery,
  context: TransactionListContext,
): Promise<ListPage<TransactionRow>> {
  const { appName, deps } = context;
  const { purchaseId, ...request } = query;
  const { rows: transactions, total } =
    purchaseId === undefined
      ? await deps.transactionLists.getPage(appName, { ...request, now: deps.now() })
      : await listTransactionsOfPurchase(appName, { ...request, purchaseId }, deps);
  return { rows: await addPurchases(transactions, context), total };
}

/** Converts transactions to records, each with the state of its purchase. */
export async function addPurchases(
  transactions: readonly Transaction[],
  { appName, includesNotifications, includesCustomers, deps }: TransactionListContext,
): Promise<TransactionRow[]> {
  const purchaseIds = transactions.map((transaction) => transaction.purchaseId);
  const entitledPurchases = await deps.purchases.findMany(appName, purchaseIds);
  const notifications = includesNotifications
    ? await listNotificationsByPurchase(appName, purchaseIds, deps.purchases)
    : undefined;
  const records = toTransactionRecords(
    transactions,
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
