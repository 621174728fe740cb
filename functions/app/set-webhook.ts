import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { emulator } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { setWebhook as contract } from '../../lib/api/app.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { setWebhook } from '../../lib/webhooks/manage-webhooks.ts';

export const handler = createHandler(contract, () => ({
  apps: apps(),
  deliveries: createDeliveryRepository(table()),
  emulator: emulator(),
}))(async ({ app, body: { newSecret, ...settings } }, deps) => {
  const signingSecret = await setWebhook(app.name, settings, { newSecret, deps });
  return { ok: true, ...(signingSecret !== undefined && { signingSecret }) };
});
