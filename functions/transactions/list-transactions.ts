import { toPage } from '../../lib/api/paging.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import { parseTransactionItem } from '../../lib/db/transaction-repository.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listNotificationsByPurchase } from '../../lib/purchases/list-notifications.ts';
import { toNotificationRecord, toTransactionRecord } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(listTransactions)(async ({ app, query }, { now, pagedLists, purchases }) => {
  const { startdate, enddate } = query;
  const page = toPage(query);
  const { items, total } = await pagedLists.getPage(app.name, 'T', { ...page, startdate, enddate, now: now() });
  const transactions = items.map(parseTransactionItem);
  const purchaseIds = transactions.map(({ purchaseId }) => purchaseId);
  const entitledPurchases = await purchases.findMany(app.name, purchaseIds);
  const purchasesById = new Map(entitledPurchases.map(({ purchase }) => [purchase.purchaseId, purchase]));
  const notifications =
    query.include_notifications === 'true'
      ? await listNotificationsByPurchase(app.name, purchaseIds, purchases)
      : undefined;
  return {
    paging: { ...page, total },
    rows: transactions.map((transaction) => ({
      ...toTransactionRecord(transaction, purchasesById.get(transaction.purchaseId)),
      ...(notifications && {
        notifications: (notifications.get(transaction.purchaseId) ?? []).map(toNotificationRecord),
      }),
    })),
  };
});
