import type { Observation } from '../../purchases/observation.ts';
import { parse } from '../../shared/parse.ts';
import type { StoreContext } from '../store-context.ts';
import { renewKeys } from './key-renewal.ts';
import { withKnownRefunds } from './known-refunds.ts';
import { type LookupRequest, lookUpProduct } from './lookup.ts';
import { RefreshToken } from './refresh-token.ts';
import { missingKeyError } from './service-ticket.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { parseStoreIdKey } from './store-id-key.ts';
import { parseTimestamp } from './timestamps.ts';

/** Queries the current state of a product and adds stored refunds. Renews StoreID keys that are older than 14 days. */
export const refresh = async (
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> => await withKnownRefunds(await refreshFromStore(refreshToken, context), context);

/** Like `refresh`, without stored refunds. */
export async function refreshFromStore(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const session = createSession(context);
  const token = await renewKeys(session, parse(RefreshToken, refreshToken));
  const lookup = await lookUpProduct(session, toLookupRequest(token, session));
  if (lookup.kind === 'keyNeeded') throw missingKeyError(lookup.service);
  return lookup.observed.map(({ observation }) => observation);
}

function toLookupRequest(token: RefreshToken, session: MicrosoftSession): LookupRequest {
  const { productId, collectionsKey, purchaseKey, sandboxId, period, expirationTime } = token;
  const previousExpiration = parseTimestamp(expirationTime);
  return {
    product: { id: productId, isStoreId: true },
    // Only subscriptions have a key for purchases. With both keys, the collection is queried if no subscription is found.
    isSubscription: purchaseKey !== undefined,
    keys: {
      ...(collectionsKey !== undefined && { collections: parseStoreIdKey(collectionsKey, 'collections', session) }),
      ...(purchaseKey !== undefined && { purchase: parseStoreIdKey(purchaseKey, 'purchase', session) }),
    },
    ...(sandboxId !== undefined && { sandboxId }),
    ...(period !== undefined && { period }),
    ...(previousExpiration !== undefined && { previousExpiration }),
  };
}
