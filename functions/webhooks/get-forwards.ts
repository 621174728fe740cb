import { findForwards } from '../../lib/forwards/forward-table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getForwards } from '../../lib/webhooks/contract.ts';

export const handler = createHandler(getForwards)(async ({ app }, service) => [
  ...((await findForwards(service, app.name)) ?? []),
]);
