import { getCommissionRates } from '../../lib/apps/commission-rate-contract.ts';
import { listCommissionRates } from '../../lib/apps/commission-rates.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getCommissionRates)(async ({ app }, service) => ({
  // The cached app can be older than the latest change.
  rates: listCommissionRates((await getApp(service, app.name)).commissionRates),
}));
