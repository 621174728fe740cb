import { getPurchase } from '../../lib/api/purchases.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { neutralId } from '../../lib/http/vocabulary.ts';
import { fetchedPurchase } from '../../lib/purchases/records.ts';

export const handler = endpoint(getPurchase)(async ({ app, params, query, event }, { now, purchases }) => {
  const purchaseId = neutralId(params.purchaseId);
  const found = await purchases.find(app.name, purchaseId);
  if (!found) throw new ServiceError('ResourceNotFound', 'There is no such purchase.');
  event.tag(purchaseId, '_P');
  const notifications =
    query.include_notifications === 'true' ? await purchases.notificationsOf(app.name, purchaseId) : undefined;
  return fetchedPurchase(found.purchase, found.entitledUsers, { now: now(), ...(notifications && { notifications }) });
});
