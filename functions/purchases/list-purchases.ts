import { toPage } from '../../lib/api/paging.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listPurchases as list } from '../../lib/lists/list-purchases.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';

export const handler = createHandler(listPurchases)(async ({ app, query }, service) => {
  const { startdate, enddate, customerId, order } = query;
  const { rows, ...paging } = await list(
    { ...toPage(query), startdate, enddate, customerId, order, isActiveOnly: query.active === 'true' },
    { appName: app.name, includesNotifications: query.include_notifications === 'true', service },
  );
  return { paging, rows };
});
