import type { OfferedPurchase } from '../api/processor-a.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Millis, Purchase } from '../purchases/purchase.ts';
import { purchaseRecord } from '../purchases/records.ts';
import { type Registered, registerObservations } from '../validation/register.ts';
import type { Selling } from './selling.ts';

/**
 * Stores what the processor said, as a validation would, and claims each purchase for the user that was named at its
 * checkout. Returns the purchases as the table then has them.
 */
export async function registerBought(
  observations: readonly Observation[],
  { app, event, deps }: Selling,
): Promise<Registered[]> {
  const users = new Set(observations.map(({ userTokens }) => userTokens[0]));
  const registered: Registered[] = [];
  for (const username of users) {
    const seen = observations.filter(({ userTokens }) => userTokens[0] === username);
    const request = username === undefined ? {} : { applicationUsername: username };
    registered.push(...(await registerObservations(seen, { app, event, deps, request })));
  }
  return registered;
}

/** The record of a purchase with its offer. */
export const offeredPurchase = (purchase: Purchase, now: Millis): OfferedPurchase => ({
  ...purchaseRecord(purchase, now),
  ...(purchase.offerId !== undefined && { offerId: purchase.offerId }),
});
