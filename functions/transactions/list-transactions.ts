import { toCursorPage, toPage } from '../../lib/api/paging.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { findTransactions } from '../../lib/lists/find-transactions.ts';
import { addPurchases, readTransactionRows } from '../../lib/lists/read-transaction-rows.ts';
import { attemptRows, toUnreadableIds } from '../../lib/lists/unreadable-rows.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';

const filterNames = ['order', 'cursor', 'applicationUsername', 'platform', 'productId', 'refunded', 'sandbox'] as const;

export const handler = createHandler(listTransactions)(async ({ app, query }, service) => {
  const page = toPage(query);
  const { startdate, enddate, cursor, order = 'oldest', limit } = { ...query, ...page };
  const rowOptions = {
    includesNotifications: query.include_notifications === 'true',
    includesCustomers: query.include_customers === 'true',
  };
  if (query.purchaseId === undefined && filterNames.some((name) => query[name] !== undefined)) {
    const { applicationUsername: username, platform, productId, refunded, sandbox } = query;
    const filter = {
      startdate,
      enddate,
      username,
      platform,
      productId,
      isRefunded: refunded && refunded === 'true',
      isSandbox: sandbox && sandbox === 'true',
    };
    // Access depends on the transactions of a customer.
    const attempts = username === undefined ? attemptRows(app.name) : undefined;
    const found = await findTransactions(service, app.name, { filter, order, limit, cursor, ...attempts });
    const rows = await addPurchases(service, app.name, found.rows, { ...rowOptions, ...attempts });
    const paging = { skip: 0, limit, total: rows.length };
    return { paging, ...toCursorPage(rows, found.next), ...toUnreadableIds(attempts?.failed ?? []) };
  }
  const purchaseId = query.purchaseId === undefined ? undefined : toNeutralId(query.purchaseId);
  const { rows, total, ...unreadable } = await readTransactionRows(
    service,
    app.name,
    { ...page, startdate, enddate, purchaseId },
    rowOptions,
  );
  return { paging: { ...page, total }, rows, ...unreadable };
});
