import { toPage } from '../../lib/api/paging.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import { parseTransactionItem } from '../../lib/db/transaction-repository.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listNotificationsByPurchase } from '../../lib/purchases/list-notifications.ts';
import { toNotificationRecord, toTransactionRecords } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(listTransactions)(async ({ app, query }, { now, pagedLists, purchases }) => {
  const { startdate, enddate } = query;
  const page = toPage(query);
  const { items, total } = await pagedLists.getPage(app.name, 'T', { ...page, startdate, enddate, now: now() });
  const transactions = items.map(parseTransactionItem);
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
});
