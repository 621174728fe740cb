import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { setCommissionRates as contract } from '../../lib/api/commission-rates.ts';
import { setCommissionRates } from '../../lib/apps/manage-apps.ts';
import { listCommissionRates } from '../../lib/purchases/commission-rates.ts';

export const handler = createHandler(contract, () => ({ apps: apps() }))(async ({ app, body }, deps) => ({
  rates: listCommissionRates(await setCommissionRates(deps.apps, app.name, body.rates)),
}));
