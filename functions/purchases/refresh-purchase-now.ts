import { createHandler } from '../../composition/endpoint.ts';
import { events } from '../../composition/events.ts';
import { recordPurchase } from '../../composition/record-purchase.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { table } from '../../composition/table.ts';
import { refreshPurchase } from '../../lib/api/purchases.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';
import { refreshPurchaseNow } from '../../lib/refresh/refresh-purchase.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';
import { loadStore } from '../../lib/stores/index.ts';

export const handler = createHandler(refreshPurchase, () => ({
  ...storeContextDeps(),
  events: events(),
  loadStore,
  recordPurchase: recordPurchase(),
  userAliases: createUserAliasRepository(table()),
}))(async ({ app, params, recorder }, deps) => {
  const purchaseId = toNeutralId(params.purchaseId);
  await refreshPurchaseNow(purchaseId, { app, recorder, deps });
  const refreshed = await deps.purchases.find(app.name, purchaseId);
  if (!refreshed) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
  return toPurchaseDetails(refreshed.purchase, refreshed.entitledUsers, { now: deps.now() });
});
