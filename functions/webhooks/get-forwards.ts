import { findForwards } from '../../lib/apps/app-table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getForwards } from '../../lib/webhooks/contract.ts';

export const handler = createHandler(getForwards)(async ({ app }, service) => [
  ...((await findForwards(service, app.name)) ?? []),
]);
