import { toIso } from '../../lib/foundation/time.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getRefreshToken } from '../../lib/purchases/contract.ts';
import { findRefreshState, requirePurchase } from '../../lib/purchases/purchase-table.ts';

export const handler = createHandler(getRefreshToken)(async ({ app, params, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const refreshState = await findRefreshState(service, app.name, purchaseId);
  requirePurchase(refreshState);
  recorder.addTag(purchaseId, '_P');
  const { refreshToken, lastRefreshAt } = refreshState;
  return {
    purchaseId,
    ...(lastRefreshAt !== undefined && { latestRefresh: toIso(lastRefreshAt) }),
    ...(refreshToken && { refreshToken: { ...refreshToken } }),
  };
});
