import { toPagesAdvice } from '../../lib/api/limits.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';

export const handler = createHandler(getCustomerPurchases)(async ({ app, params }, service) => {
  const { applicationUsername } = params;
  const purchases = await listRepresentativePurchases(service, app.name, applicationUsername);
  return createReply({
    body: { applicationUsername, purchases: toPurchaseCollection(purchases, service.now()) },
    sizeAdvice: toPagesAdvice(applicationUsername),
  });
});
