import { createHandler } from '../../composition/endpoint.ts';
import { purchases } from '../../composition/purchases.ts';
import { getRefreshToken } from '../../lib/api/purchases.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(getRefreshToken, () => ({ purchases: purchases() }))(
  async ({ app, params, recorder }, { purchases }) => {
    const purchaseId = toNeutralId(params.purchaseId);
    const refreshState = await purchases.findRefreshState(app.name, purchaseId);
    if (!refreshState) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
    recorder.addTag(purchaseId, '_P');
    const { refreshToken, lastRefreshAt } = refreshState;
    return {
      purchaseId,
      ...(lastRefreshAt !== undefined && { latestRefresh: new Date(lastRefreshAt).toISOString() }),
      ...(refreshToken && { refreshToken: { ...refreshToken } }),
    };
  },
);
