import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { emulator } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { setForwards as contract } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { setForwards } from '../../lib/forwards/manage-forwards.ts';

export const handler = createHandler(contract, () => ({
  apps: apps(),
  deliveries: createDeliveryRepository(table()),
  emulator: emulator(),
}))(async ({ app, body }, deps) => [...(await setForwards(app.name, body, deps))]);
