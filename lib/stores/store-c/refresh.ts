import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Asking } from '../store.ts';
import { renewedIn } from './key-renewal.ts';
import { withKnownRefunds } from './known-refunds.ts';
import { look, type Question } from './look.ts';
import { momentOf } from './moments.ts';
import { RefreshToken } from './refresh-token.ts';
import { type Session, sessionOf } from './session.ts';
import { readKey } from './store-id-key.ts';
import { keyNeeded } from './ticket.ts';

/**
 * The state now of a product that a customer owned, with the refunds that are known of it; keys older than 14 days are
 * renewed on the way.
 */
export const refresh = async (
  refreshToken: Readonly<Record<string, string>>,
  asking: Asking,
): Promise<readonly Observation[]> => await withKnownRefunds(await lookAgain(refreshToken, asking), asking);

/** The same as the store alone shows it. */
export async function lookAgain(
  refreshToken: Readonly<Record<string, string>>,
  asking: Asking,
): Promise<readonly Observation[]> {
  const session = sessionOf(asking);
  const token = await renewedIn(session, parse(RefreshToken, refreshToken));
  const looked = await look(session, questionAgain(token, session));
  if (looked.kind === 'needs') throw keyNeeded(looked.service);
  return looked.seen.map(({ observation }) => observation);
}

function questionAgain(token: RefreshToken, session: Session): Question {
  const { productId, collectionsKey, purchaseKey, sandboxId, period, expirationTime } = token;
  const previousExpiration = momentOf(expirationTime);
  return {
    product: { id: productId, isStoreId: true },
    // Only subscriptions have a key for purchases; with both keys, the collection is asked for what is none.
    isSubscription: purchaseKey !== undefined,
    keys: {
      ...(collectionsKey !== undefined && { collections: readKey(collectionsKey, 'collections', session) }),
      ...(purchaseKey !== undefined && { purchase: readKey(purchaseKey, 'purchase', session) }),
    },
    ...(sandboxId !== undefined && { sandboxId }),
    ...(period !== undefined && { period }),
    ...(previousExpiration !== undefined && { previousExpiration }),
  };
}
