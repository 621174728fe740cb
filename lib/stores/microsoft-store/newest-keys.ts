import * as v from 'valibot';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { keyFields, RefreshToken } from './refresh-token.ts';
import type { MicrosoftSession } from './session.ts';
import { parseStoreIdKey, type StoreService, storeServices } from './store-id-key.ts';

/**
 * Replaces StoreID keys by stored ones that expire later. Clients keep a key for weeks, and the service may have
 * renewed it since. Keeps the stored price if the request lacks one.
 */
export const withNewestKeys = async (
  observations: readonly Observation[],
  session: MicrosoftSession,
  { findRefreshToken }: Pick<StoreContext, 'findRefreshToken'>,
): Promise<Observation[]> =>
  await Promise.all(
    observations.map(async (observation) => {
      const stored = v.safeParse(RefreshToken, await findRefreshToken?.(observation.purchase.purchaseId));
      if (!stored.success || !observation.refreshToken) return observation;
      return {
        ...observation,
        refreshToken: {
          ...pickPrice(stored.output),
          ...observation.refreshToken,
          ...pickLongerLivedKeys(stored.output, observation, session),
        },
      };
    }),
  );

const pickPrice = ({ price }: RefreshToken): Partial<RefreshToken> => (price === undefined ? {} : { price });

function pickLongerLivedKeys(
  stored: RefreshToken,
  { refreshToken = {} }: Observation,
  session: MicrosoftSession,
): Partial<RefreshToken> {
  const newerKeys = storeServices.flatMap((service) => {
    const field = keyFields[service];
    const [storedKey, clientKey] = [stored[field], refreshToken[field]];
    if (storedKey === undefined) return [];
    const isNewer =
      getKeyExpiration(storedKey, service, session) >
      (clientKey === undefined ? 0 : getKeyExpiration(clientKey, service, session));
    return isNewer ? [[field, storedKey]] : [];
  });
  return Object.fromEntries(newerKeys);
}

/** Returns 0 for an unusable key, for example after the app changed its Entra application. */
function getKeyExpiration(key: string, service: StoreService, session: MicrosoftSession): EpochMillis {
  try {
    return parseStoreIdKey(key, service, session).expiresAt;
  } catch {
    return 0;
  }
}
