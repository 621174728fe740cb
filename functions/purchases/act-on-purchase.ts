import { actionDeps } from '../../composition/actions.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { actOnPurchase } from '../../lib/actions/act-on-purchase.ts';
import { actOnPurchase as contract } from '../../lib/api/actions.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(
  contract,
  actionDeps,
)(async ({ app, key, params, body, recorder }, deps) => {
  const transactionId = body.transactionId && toNeutralId(body.transactionId);
  return await actOnPurchase(toNeutralId(params.purchaseId), { ...body, transactionId }, { app, key, recorder, deps });
});
