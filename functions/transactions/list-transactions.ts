import { pageOf } from '../../lib/api/paging.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import { listedTransaction } from '../../lib/db/transactions.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { notificationsOfEach } from '../../lib/notifications/of-each.ts';
import { notificationRecord, transactionRecord } from '../../lib/purchases/records.ts';

export const handler = endpoint(listTransactions)(async ({ app, query }, { now, lists, purchases }) => {
  const { startdate, enddate } = query;
  const rows = pageOf(query);
  const { items, total } = await lists.page(app.name, 'T', { ...rows, startdate, enddate, now: now() });
  const transactions = items.map(listedTransaction);
  const notifications =
    query.include_notifications === 'true'
      ? await notificationsOfEach(
          app.name,
          transactions.map(({ purchaseId }) => purchaseId),
          purchases,
        )
      : undefined;
  return {
    paging: { ...rows, total },
    rows: transactions.map((transaction) => ({
      ...transactionRecord(transaction),
      ...(notifications && {
        notifications: (notifications.get(transaction.purchaseId) ?? []).map(notificationRecord),
      }),
    })),
  };
});
