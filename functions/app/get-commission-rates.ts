import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { getCommissionRates } from '../../lib/api/commission-rates.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { listCommissionRates } from '../../lib/purchases/commission-rates.ts';

export const handler = createHandler(getCommissionRates, () => ({ apps: apps() }))(async ({ app }, deps) => ({
  // The cached app can be older than the latest change.
  rates: listCommissionRates((await getApp(deps.apps, app.name)).commissionRates),
}));
