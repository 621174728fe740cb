import { createHandler } from '../../composition/endpoint.ts';
import { table } from '../../composition/table.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { listDeliveries } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(listDeliveries, () => ({ deliveries: createDeliveryRepository(table()) }))(
  async ({ app, query }, { deliveries }) => {
    const { applicationUsername: username, limit = 50, ...filters } = query;
    const { rows, next } = await deliveries.listPage(app.name, { ...filters, username, limit });
    return toCursorPage(rows.map(toDeliveryRecord), next);
  },
);
