import { setForwards as contract } from '../../lib/api/webhooks.ts';
import { setForwards } from '../../lib/forwards/manage-forwards.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(contract)(async ({ app, body }, service) => [
  ...(await setForwards(service, app.name, body)),
]);
