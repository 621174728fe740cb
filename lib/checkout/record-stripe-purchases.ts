import type { OperationContext } from '../events/operation-context.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import { toPurchaseRecord } from '../purchases/to-records.ts';
import { resolveMergedName } from '../purchases/user-alias-table.ts';
import { recordObservations } from '../validation/record-observations.ts';
import type { PurchaseWithOffer } from './contract.ts';

/**
 * Records observations like a validation does, and claims each purchase for the user of its checkout. Returns the
 * stored purchases.
 */
export async function recordStripePurchases(
  context: OperationContext,
  observations: readonly Observation[],
): Promise<EntitledPurchase[]> {
  const usernames = new Set(observations.map(({ checkoutUsername }) => checkoutUsername));
  const recorded: EntitledPurchase[] = [];
  for (const username of usernames) {
    const userObservations = observations.filter(({ checkoutUsername }) => checkoutUsername === username);
    const applicationUsername = await resolveMergedName(context.service, context.app.name, username);
    const request = omitUndefined({ applicationUsername });
    recorded.push(...(await recordObservations({ ...context, request }, userObservations)));
  }
  return recorded;
}

/** Converts a purchase to its API record with the offer id. */
export const toPurchaseWithOffer = (purchase: Purchase, now: EpochMillis): PurchaseWithOffer => ({
  ...toPurchaseRecord(purchase, now),
  ...(purchase.offerId !== undefined && { offerId: purchase.offerId }),
});
