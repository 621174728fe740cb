import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { refreshPurchase } from '../../lib/purchases/contract.ts';
import { findPurchase, requirePurchase } from '../../lib/purchases/purchase-table.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';
import { refreshPurchaseNow } from '../../lib/refresh/refresh-purchase.ts';

export const handler = createHandler(refreshPurchase)(async ({ app, params, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  await refreshPurchaseNow({ app, recorder, service }, purchaseId);
  const refreshed = await findPurchase(service, app.name, purchaseId);
  requirePurchase(refreshed);
  return toPurchaseDetails(refreshed.purchase, refreshed.entitledUsers, { now: service.now() });
});
