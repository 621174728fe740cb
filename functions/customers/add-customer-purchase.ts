import { addCustomerPurchase } from '../../lib/api/customers.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { neutralId } from '../../lib/http/vocabulary.ts';
import { collectionOf } from '../../lib/purchases/collection.ts';

export const handler = endpoint(addCustomerPurchase)(
  async ({ app, params, body, event }, { now, purchases, aliases }) => {
    const { applicationUsername: username } = params;
    const purchaseId = neutralId(body.purchaseId);
    const claim = { username, how: 'manual' } as const;
    const linked = { cause: 'link', claim, strategy: app.strategy, now: now() } as const;
    const recorded = await purchases.record(app.name, purchaseId, linked);
    if (!recorded) throw new ServiceError('ResourceNotFound', 'There is no such purchase.');
    if (recorded.change) await aliases.remember(app.name, { username, shown: recorded.stored.known.userTokens });
    const { productId, platform } = recorded.stored.known.purchase;
    event.tag(purchaseId, '_P');
    event.note({
      claims: [{ applicationUsername: username, purchaseId, type: 'manual' }],
      purchases: [{ purchaseId, productId, platform }],
    });
    const owned = await purchases.ownedBy(app.name, username);
    return { ok: true, applicationUsername: username, purchases: collectionOf(owned, now()) };
  },
);
