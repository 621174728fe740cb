import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { purchases } from '../../composition/purchases.ts';
import { getPurchase } from '../../lib/api/purchases.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(getPurchase, () => ({ now, purchases: purchases() }))(
  async ({ app, params, query, recorder }, { now, purchases }) => {
    const purchaseId = toNeutralId(params.purchaseId);
    const entitled = await purchases.find(app.name, purchaseId);
    if (!entitled) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
    recorder.addTag(purchaseId, '_P');
    const notifications =
      query.include_notifications === 'true' ? await purchases.listNotifications(app.name, purchaseId) : undefined;
    return toPurchaseDetails(entitled.purchase, entitled.entitledUsers, {
      now: now(),
      ...(notifications && { notifications }),
    });
  },
);
