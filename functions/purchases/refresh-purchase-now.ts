import { refreshPurchase } from '../../lib/api/purchases.ts';
import { events, loadStore, recordPurchase, storeContextProviders, userAliases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';
import { refreshPurchaseNow } from '../../lib/refresh/refresh-purchase.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(refreshPurchase, {
  ...storeContextProviders,
  events,
  loadStore,
  recordPurchase,
  userAliases,
})(async ({ app, params, recorder }, deps) => {
  const purchaseId = toNeutralId(params.purchaseId);
  await refreshPurchaseNow(purchaseId, { app, recorder, deps });
  const refreshed = await deps.purchases.find(app.name, purchaseId);
  if (!refreshed) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
  return toPurchaseDetails(refreshed.purchase, refreshed.entitledUsers, { now: deps.now() });
});
