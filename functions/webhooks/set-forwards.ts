import { saveForwards } from '../../lib/forwards/manage-forwards.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setForwards } from '../../lib/webhooks/contract.ts';

export const handler = createHandler(setForwards)(async ({ app, body }, service) => [
  ...(await saveForwards(service, app.name, body)),
]);
