import { getCustomerSubscription } from '../../lib/customers/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { findCurrentSubscription } from '../../lib/purchases/purchase-collection.ts';
import { toPurchaseRecord } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerSubscription)(async ({ app, params }, service) => {
  const { applicationUsername } = params;
  const purchases = await listRepresentativePurchases(service, app.name, applicationUsername, 'subscriptions');
  const subscription = findCurrentSubscription(purchases, service.now());
  return { applicationUsername, ...(subscription && { subscription: toPurchaseRecord(subscription, service.now()) }) };
});
