import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { getForwards } from '../../lib/api/webhooks.ts';

export const handler = createHandler(getForwards, () => ({ apps: apps() }))(async ({ app }, deps) => [
  ...((await deps.apps.findForwards(app.name)) ?? []),
]);
