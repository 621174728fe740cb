import { toPage } from '../../lib/api/paging.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { readPurchaseRows } from '../../lib/lists/read-purchase-rows.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';

export const handler = createHandler(listPurchases)(async ({ app, query }, service) => {
  const { startdate, enddate, customerId, order } = query;
  const { rows, skip, limit, total, ...unreadable } = await readPurchaseRows(service, app.name, {
    ...toPage(query),
    startdate,
    enddate,
    customerId,
    order,
    isActiveOnly: query.active === 'true',
    includesNotifications: query.include_notifications === 'true',
  });
  return { paging: { skip, limit, total }, rows, ...unreadable };
});
