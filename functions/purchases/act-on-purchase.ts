import { actOnPurchase } from '../../lib/actions/contract.ts';
import { runAction } from '../../lib/actions/run-action.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(actOnPurchase)(async ({ app, key, params, body, recorder }, service) => {
  const transactionId = body.transactionId && toNeutralId(body.transactionId);
  return await runAction({ app, key, recorder, service }, toNeutralId(params.purchaseId), {
    ...body,
    transactionId,
  });
});
