import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { findPurchase, listAnnouncements, requirePurchase } from '../../lib/purchases/purchase-table.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getPurchase)(async ({ app, params, query, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const entitled = await findPurchase(service, app.name, purchaseId);
  requirePurchase(entitled);
  recorder.addTag(purchaseId, '_P');
  const notifications =
    query.include_notifications === 'true' ? await listAnnouncements(service, app.name, purchaseId) : undefined;
  return toPurchaseDetails(entitled.purchase, entitled.entitledUsers, {
    now: service.now(),
    ...(notifications && { notifications }),
  });
});
