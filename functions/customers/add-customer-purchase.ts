import { addCustomerPurchase } from '../../lib/customers/claim-contract.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { requirePurchase } from '../../lib/purchases/purchase-table.ts';
import { recordPurchase } from '../../lib/purchases/record-purchase.ts';
import { saveUserAliases } from '../../lib/purchases/user-alias-table.ts';

export const handler = createHandler(addCustomerPurchase)(async ({ app, params, body, recorder }, service) => {
  const { applicationUsername: username } = params;
  const purchaseId = toNeutralId(body.purchaseId);
  const claim = { username, source: 'manual' } as const;
  const { eventId } = recorder;
  const update = { trigger: 'link', claim, eventId, strategy: app.strategy, now: service.now() } as const;
  const recorded = await recordPurchase(service, app.name, purchaseId, update);
  requirePurchase(recorded);
  // Also without a change: an earlier request can have ended after it wrote the claim.
  const { userAliases, purchase } = recorded.stored.state;
  await saveUserAliases(service, app.name, { username, storeAliases: userAliases });
  const { productId, platform } = purchase;
  recorder.addTag(purchaseId, '_P');
  recorder.addContent({
    claims: [{ applicationUsername: username, purchaseId, type: 'manual' }],
    purchases: [{ purchaseId, productId, platform }],
  });
  const purchases = await listRepresentativePurchases(service, app.name, username);
  return { ok: true, applicationUsername: username, purchases: toPurchaseCollection(purchases, service.now()) };
});
