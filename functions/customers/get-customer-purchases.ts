import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';

export const handler = createHandler(getCustomerPurchases, () => ({
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
}))(async ({ app, params }, { now, ownedPurchases }) => {
  const { applicationUsername } = params;
  const purchases = await ownedPurchases.listRepresentativePurchases(app.name, applicationUsername);
  return { applicationUsername, purchases: toPurchaseCollection(purchases, now()) };
});
