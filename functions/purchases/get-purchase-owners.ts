import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getPurchaseOwners } from '../../lib/purchases/contract.ts';
import { readPurchaseOwners } from '../../lib/purchases/read-purchase-owners.ts';

export const handler = createHandler(getPurchaseOwners)(async ({ app, params, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const owners = await readPurchaseOwners(service, app, purchaseId);
  recorder.addTag(purchaseId, '_P');
  return owners;
});
