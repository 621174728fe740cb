import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getCustomerSubscription } from '../../lib/api/customers.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { findCurrentSubscription } from '../../lib/purchases/purchase-collection.ts';
import { toPurchaseRecord } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerSubscription, () => ({
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
}))(async ({ app, params }, { now, ownedPurchases }) => {
  const { applicationUsername } = params;
  const purchases = await ownedPurchases.listRepresentativePurchases(app.name, applicationUsername, 'subscriptions');
  const subscription = findCurrentSubscription(purchases, now());
  return { applicationUsername, ...(subscription && { subscription: toPurchaseRecord(subscription, now()) }) };
});
