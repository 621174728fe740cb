import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';

export const handler = createHandler(getCustomerPurchases)(async ({ app, params }, { now, purchases }) => {
  const { applicationUsername } = params;
  const ownedPurchases = await purchases.listByUser(app.name, applicationUsername);
  return { applicationUsername, purchases: toPurchaseCollection(ownedPurchases, now()) };
});
