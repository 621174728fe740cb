import { setForwards } from '../../lib/forwards/manage-forwards.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setForwards as contract } from '../../lib/webhooks/contract.ts';

export const handler = createHandler(contract)(async ({ app, body }, service) => [
  ...(await setForwards(service, app.name, body)),
]);
