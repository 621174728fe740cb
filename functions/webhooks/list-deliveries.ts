import { toCursorPage } from '../../lib/api/paging.ts';
import { listDeliveries } from '../../lib/api/webhooks.ts';
import { deliveries } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(listDeliveries, { deliveries })(async ({ app, query }, { deliveries }) => {
  const { applicationUsername: username, limit = 50, ...filters } = query;
  const { rows, next } = await deliveries.listPage(app.name, { ...filters, username, limit });
  return toCursorPage(rows.map(toDeliveryRecord), next);
});
