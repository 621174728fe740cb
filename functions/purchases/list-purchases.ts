import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { pagedLists } from '../../composition/lists.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { toPage } from '../../lib/api/paging.ts';
import { listPurchases } from '../../lib/api/purchases.ts';
import { createPurchaseListRepository } from '../../lib/db/list-repositories.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { listPurchases as list } from '../../lib/purchases/list-purchases.ts';

export const handler = createHandler(listPurchases, () => ({
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  purchaseLists: createPurchaseListRepository(pagedLists()),
  purchases: purchases(),
}))(async ({ app, query }, deps) => {
  const { startdate, enddate, customerId, order } = query;
  const { rows, ...paging } = await list(
    { ...toPage(query), startdate, enddate, customerId, order, isActiveOnly: query.active === 'true' },
    { appName: app.name, includesNotifications: query.include_notifications === 'true', deps },
  );
  return { paging, rows };
});
