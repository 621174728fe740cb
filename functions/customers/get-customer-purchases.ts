import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { toCustomerCollection } from '../../lib/purchases/purchase-collection.ts';

export const handler = createHandler(getCustomerPurchases)(async ({ app, params }, service) => {
  const { applicationUsername } = params;
  const purchases = await listRepresentativePurchases(service, app.name, applicationUsername);
  return { applicationUsername, purchases: toCustomerCollection(applicationUsername, purchases, service.now()) };
});
