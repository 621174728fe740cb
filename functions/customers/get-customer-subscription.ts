import { getCustomerSubscription } from '../../lib/api/customers.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { currentSubscription } from '../../lib/purchases/collection.ts';
import { purchaseRecord } from '../../lib/purchases/records.ts';

export const handler = endpoint(getCustomerSubscription)(async ({ app, params }, { now, purchases }) => {
  const { applicationUsername } = params;
  const subscription = currentSubscription(await purchases.ownedBy(app.name, applicationUsername), now());
  return { applicationUsername, ...(subscription && { subscription: purchaseRecord(subscription, now()) }) };
});
