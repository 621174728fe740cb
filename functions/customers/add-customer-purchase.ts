import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { recordPurchase } from '../../composition/record-purchase.ts';
import { table } from '../../composition/table.ts';
import { addCustomerPurchase } from '../../lib/api/customers.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(addCustomerPurchase, () => ({
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  recordPurchase: recordPurchase(),
  userAliases: createUserAliasRepository(table()),
}))(async ({ app, params, body, recorder }, { now, ownedPurchases, recordPurchase, userAliases }) => {
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
});
