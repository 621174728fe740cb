import { actOnPurchase } from '../../lib/actions/act-on-purchase.ts';
import { actOnPurchase as contract } from '../../lib/actions/contract.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(contract)(async ({ app, key, params, body, recorder }, service) => {
  const transactionId = body.transactionId && toNeutralId(body.transactionId);
  return await actOnPurchase({ app, key, recorder, service }, toNeutralId(params.purchaseId), {
    ...body,
    transactionId,
  });
});
