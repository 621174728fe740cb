import { getCustomerSubscription } from '../../lib/api/customers.ts';
import { now, ownedPurchases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { findCurrentSubscription } from '../../lib/purchases/purchase-collection.ts';
import { toPurchaseRecord } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerSubscription, { now, ownedPurchases })(
  async ({ app, params }, { now, ownedPurchases }) => {
    const { applicationUsername } = params;
    const purchases = await ownedPurchases.listRepresentativePurchases(app.name, applicationUsername, 'subscriptions');
    const subscription = findCurrentSubscription(purchases, now());
    return { applicationUsername, ...(subscription && { subscription: toPurchaseRecord(subscription, now()) }) };
  },
);
