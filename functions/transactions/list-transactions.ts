import { toPage } from '../../lib/api/paging.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import { parseTransactionItem } from '../../lib/db/transaction-repository.ts';
import { now, pagedLists, purchases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listNotificationsByPurchase } from '../../lib/purchases/list-notifications.ts';
import type { PurchaseRepository } from '../../lib/purchases/purchase-repository.ts';
import { toNotificationRecord, toTransactionRecords } from '../../lib/purchases/to-records.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(listTransactions, { now, pagedLists, purchases })(
  async ({ app, query }, { now, pagedLists, purchases }) => {
    const { startdate, enddate } = query;
    const page = toPage(query);
    const getPage = async () => {
      const { items, total } = await pagedLists.getPage(app.name, 'T', { ...page, startdate, enddate, now: now() });
      return { transactions: items.map(parseTransactionItem), total };
    };
    const { transactions, total } =
      query.purchaseId === undefined
        ? await getPage()
        : await listTransactionsOfPurchase(app.name, toNeutralId(query.purchaseId), {
            ...page,
            startdate,
            enddate,
            purchases,
          });
    const purchaseIds = transactions.map(({ purchaseId }) => purchaseId);
    const entitledPurchases = await purchases.findMany(app.name, purchaseIds);
    const notifications =
      query.include_notifications === 'true'
        ? await listNotificationsByPurchase(app.name, purchaseIds, purchases)
        : undefined;
    const records = toTransactionRecords(
      transactions,
      entitledPurchases.map(({ purchase }) => purchase),
    );
    return {
      paging: { ...page, total },
      rows: records.map((record) => ({
        ...record,
        ...(notifications && {
          notifications: (notifications.get(record.purchaseId) ?? []).map(toNotificationRecord),
        }),
      })),
    };
  },
);

interface PurchaseTransactionsRequest {
  readonly skip: number;
  readonly limit: number;
  readonly startdate: EpochMillis | undefined;
  readonly enddate: EpochMillis | undefined;
  readonly purchases: Pick<PurchaseRepository, 'listTransactions'>;
}

/** Lists a page of the transactions of one purchase, oldest first. */
async function listTransactionsOfPurchase(
  appName: string,
  purchaseId: string,
  { skip, limit, startdate = 0, enddate = Infinity, purchases }: PurchaseTransactionsRequest,
): Promise<{ transactions: Transaction[]; total: number }> {
  const latestFirst = await purchases.listTransactions(appName, [purchaseId]);
  const inRange = latestFirst
    .filter(({ purchaseDate }) => purchaseDate >= startdate && purchaseDate < enddate)
    .reverse();
  return { transactions: inRange.slice(skip, skip + limit), total: inRange.length };
}
