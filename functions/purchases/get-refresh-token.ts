import { getRefreshToken } from '../../lib/api/purchases.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { neutralId } from '../../lib/http/vocabulary.ts';

export const handler = endpoint(getRefreshToken)(async ({ app, params, event }, { purchases }) => {
  const purchaseId = neutralId(params.purchaseId);
  const found = await purchases.refreshable(app.name, purchaseId);
  if (!found) throw new ServiceError('ResourceNotFound', 'There is no such purchase.');
  event.tag(purchaseId, '_P');
  const { refreshToken, refreshedAt } = found;
  return {
    purchaseId,
    ...(refreshedAt !== undefined && { latestRefresh: new Date(refreshedAt).toISOString() }),
    ...(refreshToken && { refreshToken: { ...refreshToken } }),
  };
});
