import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { pagedLists } from '../../composition/lists.ts';
import { purchases } from '../../composition/purchases.ts';
import { toPage } from '../../lib/api/paging.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import { createTransactionListRepository } from '../../lib/db/list-repositories.ts';
import { listTransactions as list } from '../../lib/purchases/list-transactions.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(listTransactions, () => ({
  now,
  purchases: purchases(),
  transactionLists: createTransactionListRepository(pagedLists()),
}))(async ({ app, query }, deps) => {
  const page = toPage(query);
  const { startdate, enddate } = query;
  const purchaseId = query.purchaseId === undefined ? undefined : toNeutralId(query.purchaseId);
  const { rows, total } = await list(
    { ...page, startdate, enddate, purchaseId },
    { appName: app.name, includesNotifications: query.include_notifications === 'true', deps },
  );
  return { paging: { ...page, total }, rows };
});
