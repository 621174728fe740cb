import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { withEstimatedAmount } from './estimated-amount.ts';
import { needsConsumption } from './fulfill.ts';
import { renewKeys } from './key-renewal.ts';
import { type LookupRequest, lookUpProduct } from './lookup.ts';
import { parseTimestamp } from './payloads.ts';
import { RefreshToken } from './refresh-token.ts';
import { missingKeyError } from './service-ticket.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { parseStoreIdKey } from './store-id-key.ts';
import { withStoredFacts } from './stored-facts.ts';

/**
 * Queries the current state of a product. Renews StoreID keys that are older than 14 days. A
 * developer-managed consumable that has left the collection was consumed on a device.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/enable-consumable-add-on-purchases
 */
export async function refresh(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const observations = await refreshFromStore(refreshToken, context);
  const { purchaseId } = parse(RefreshToken, refreshToken);
  if (purchaseId === undefined || observations.some(({ purchase }) => purchase.purchaseId === purchaseId)) {
    return observations;
  }
  const stored = await context.findPurchase?.(purchaseId);
  const asOf = context.now();
  if (!stored || !needsConsumption({ purchase: stored, transactions: [], asOf })) return observations;
  const purchase = { ...stored, isConsumed: true, quantity: 0 };
  return [...observations, { asOf, purchase, transactions: [], userAliases: [], refreshToken }];
}

/** Like `refresh`, without consumed items. */
async function refreshFromStore(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const session = createSession(context);
  const token = await renewKeys(session, parse(RefreshToken, refreshToken));
  const lookup = await lookUpProduct(session, toLookupRequest(token, session));
  if (lookup.kind === 'keyNeeded') throw missingKeyError(lookup.service);
  return (await withStoredFacts(lookup.observed, context)).map(withEstimatedAmount);
}

function toLookupRequest(token: RefreshToken, session: MicrosoftSession): LookupRequest {
  const { productId, collectionsKey, purchaseKey, sandboxId, period, price, expirationTime } = token;
  const previousExpiration = parseTimestamp(expirationTime);
  return {
    product: { id: productId, isStoreId: true },
    // Only subscriptions have a key for purchases. With both keys, the collection is queried if no subscription is
    // found.
    isSubscription: purchaseKey !== undefined,
    keys: {
      ...(collectionsKey !== undefined && { collections: parseStoreIdKey(collectionsKey, 'collections', session) }),
      ...(purchaseKey !== undefined && { purchase: parseStoreIdKey(purchaseKey, 'purchase', session) }),
    },
    ...omitUndefined({ sandboxId, period, price, previousExpiration }),
  };
}
