import { toCursorPage } from '../../lib/api/paging.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listDeliveries } from '../../lib/webhooks/contract.ts';
import { listDeliveryPage } from '../../lib/webhooks/list-deliveries.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(listDeliveries)(async ({ app, query }, service) => {
  const { applicationUsername: username, limit = 50, ...filters } = query;
  const { rows, next } = await listDeliveryPage(service, app.name, { ...filters, username, limit });
  return toCursorPage(rows.map(toDeliveryRecord), next);
});
