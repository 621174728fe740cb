import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { collectionOf } from '../../lib/purchases/collection.ts';

export const handler = endpoint(getCustomerPurchases)(async ({ app, params }, { now, purchases }) => {
  const { applicationUsername } = params;
  const owned = await purchases.ownedBy(app.name, applicationUsername);
  return { applicationUsername, purchases: collectionOf(owned, now()) };
});
