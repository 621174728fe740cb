import { getRefreshToken } from '../../lib/api/purchases.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(getRefreshToken)(async ({ app, params, recorder }, { purchases }) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const found = await purchases.findRefreshState(app.name, purchaseId);
  if (!found) throw new ServiceError('ResourceNotFound', 'There is no such purchase.');
  recorder.addTag(purchaseId, '_P');
  const { refreshToken, lastRefreshAt } = found;
  return {
    purchaseId,
    ...(lastRefreshAt !== undefined && { latestRefresh: new Date(lastRefreshAt).toISOString() }),
    ...(refreshToken && { refreshToken: { ...refreshToken } }),
  };
});
