import type { OperationContext } from '../events/operation-context.ts';
import { requirePurchase } from '../purchases/purchase-table.ts';
import { recordPurchase } from '../purchases/record-purchase.ts';
import { saveUserAliases } from '../purchases/user-alias-table.ts';

/**
 * Gives a purchase to a customer by a link, which takes precedence over claims from validations. Idempotent. Throws
 * `ResourceNotFound` for an unknown purchase.
 */
export async function linkPurchase(
  { app, recorder, service }: OperationContext,
  username: string,
  purchaseId: string,
): Promise<void> {
  const recorded = await recordPurchase(service, app.name, purchaseId, {
    trigger: 'link',
    claim: { username, source: 'manual' },
    eventId: recorder.eventId,
    strategy: app.strategy,
    now: service.now(),
  });
  requirePurchase(recorded);
  // Even without a change: an earlier request can have ended after it wrote the claim.
  const { userAliases, purchase } = recorded.stored.state;
  await saveUserAliases(service, app.name, { username, storeAliases: userAliases });
  const { productId, platform } = purchase;
  recorder.addTag(purchaseId, '_P');
  recorder.addContent({
    claims: [{ applicationUsername: username, purchaseId, type: 'manual' }],
    purchases: [{ purchaseId, productId, platform }],
  });
}
