import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { now, ownedPurchases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';

export const handler = createHandler(getCustomerPurchases, { now, ownedPurchases })(
  async ({ app, params }, { now, ownedPurchases }) => {
    const { applicationUsername } = params;
    const purchases = await ownedPurchases.listRepresentativePurchases(app.name, applicationUsername);
    return { applicationUsername, purchases: toPurchaseCollection(purchases, now()) };
  },
);
