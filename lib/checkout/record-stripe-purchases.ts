import type { PurchaseWithOffer } from '../api/processor-a.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { EntitledPurchase } from '../purchases/purchase-repository.ts';
import { toPurchaseRecord } from '../purchases/to-records.ts';
import type { EpochMillis } from '../shared/time.ts';
import { recordObservations } from '../validation/record-observations.ts';
import type { CheckoutContext } from './checkout-context.ts';

/**
 * Stores what the processor said, as a validation would, and claims each purchase for the user that was named at its
 * checkout. Returns the purchases as the table then has them.
 */
export async function recordStripePurchases(
  observations: readonly Observation[],
  { app, recorder, deps }: CheckoutContext,
): Promise<EntitledPurchase[]> {
  const users = new Set(observations.map(({ userAliases }) => userAliases[0]));
  const registered: EntitledPurchase[] = [];
  for (const username of users) {
    const userObservations = observations.filter(({ userAliases }) => userAliases[0] === username);
    const request = username === undefined ? {} : { applicationUsername: username };
    registered.push(...(await recordObservations(userObservations, { app, recorder, deps, request })));
  }
  return registered;
}

/** The record of a purchase with its offer. */
export const toPurchaseWithOffer = (purchase: Purchase, now: EpochMillis): PurchaseWithOffer => ({
  ...toPurchaseRecord(purchase, now),
  ...(purchase.offerId !== undefined && { offerId: purchase.offerId }),
});
