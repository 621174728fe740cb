import { addCustomerPurchase } from '../../lib/api/customers.ts';
import { now, ownedPurchases, recordPurchase, userAliases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(addCustomerPurchase, { now, ownedPurchases, recordPurchase, userAliases })(
  async ({ app, params, body, recorder }, { now, ownedPurchases, recordPurchase, userAliases }) => {
    const { applicationUsername: username } = params;
    const purchaseId = toNeutralId(body.purchaseId);
    const claim = { username, source: 'manual' } as const;
    const update = { trigger: 'link', claim, strategy: app.strategy, now: now() } as const;
    const recorded = await recordPurchase(app.name, purchaseId, update);
    if (!recorded) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
    if (recorded.change)
      await userAliases.saveAliases(app.name, { username, storeAliases: recorded.stored.state.userAliases });
    const { productId, platform } = recorded.stored.state.purchase;
    recorder.addTag(purchaseId, '_P');
    recorder.addContent({
      claims: [{ applicationUsername: username, purchaseId, type: 'manual' }],
      purchases: [{ purchaseId, productId, platform }],
    });
    const purchases = await ownedPurchases.listRepresentativePurchases(app.name, username);
    return { ok: true, applicationUsername: username, purchases: toPurchaseCollection(purchases, now()) };
  },
);
