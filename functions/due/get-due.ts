import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getDue } from '../../lib/api/due.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createDueItemRepository } from '../../lib/db/due-item-repository.ts';
import { readBacklogs } from '../../lib/problems/read-backlogs.ts';

export const handler = createHandler(getDue, () => ({
  deliveries: createDeliveryRepository(table()),
  dueItems: createDueItemRepository(table()),
  now,
}))(async ({ app }, deps) => ({ appName: app.name, ...(await readBacklogs(app, deps)) }));
