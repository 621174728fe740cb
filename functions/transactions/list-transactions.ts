import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { pagedLists } from '../../composition/lists.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { toCursorPage, toPage } from '../../lib/api/paging.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import { createTransactionListRepository } from '../../lib/db/list-repositories.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { findTransactions } from '../../lib/purchases/find-transactions.ts';
import { addPurchases, listTransactions as list } from '../../lib/purchases/list-transactions.ts';
import { parsePlatform, toNeutralId } from '../../lib/shared/vocabulary.ts';

const filterNames = ['order', 'cursor', 'applicationUsername', 'platform', 'productId', 'refunded', 'sandbox'] as const;

export const handler = createHandler(listTransactions, () => ({
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  purchases: purchases(),
  transactionLists: createTransactionListRepository(pagedLists()),
}))(async ({ app, query }, deps) => {
  const page = toPage(query);
  const { startdate, enddate, cursor, order = 'oldest', limit } = { ...query, ...page };
  const context = {
    appName: app.name,
    includesNotifications: query.include_notifications === 'true',
    includesCustomers: query.include_customers === 'true',
    deps,
  };
  if (query.purchaseId === undefined && filterNames.some((name) => query[name] !== undefined)) {
    const { applicationUsername: username, platform, productId, refunded, sandbox } = query;
    const filter = {
      startdate,
      enddate,
      username,
      platform: platform && parsePlatform(platform),
      productId,
      isRefunded: refunded && refunded === 'true',
      isSandbox: sandbox && sandbox === 'true',
    };
    const found = await findTransactions(app.name, { filter, order, limit, cursor }, deps);
    const rows = await addPurchases(found.rows, context);
    return { paging: { skip: 0, limit, total: rows.length }, ...toCursorPage(rows, found.next) };
  }
  const purchaseId = query.purchaseId === undefined ? undefined : toNeutralId(query.purchaseId);
  const { rows, total } = await list({ ...page, startdate, enddate, purchaseId }, context);
  return { paging: { ...page, total }, rows };
});
