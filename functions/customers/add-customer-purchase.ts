import { toPagesAdvice } from '../../lib/api/limits.ts';
import { addCustomerPurchase } from '../../lib/customers/claim-contract.ts';
import { linkPurchase } from '../../lib/customers/link-purchase.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { resolveMergedName } from '../../lib/purchases/user-alias-table.ts';

export const handler = createHandler(addCustomerPurchase)(async ({ app, params, body, recorder }, service) => {
  const username = await resolveMergedName(service, app.name, params.applicationUsername);
  await linkPurchase({ app, recorder, service }, username, toNeutralId(body.purchaseId));
  const purchases = await listRepresentativePurchases(service, app.name, username);
  return createReply({
    body: { ok: true, applicationUsername: username, purchases: toPurchaseCollection(purchases, service.now()) },
    sizeAdvice: toPagesAdvice(username),
  });
});
