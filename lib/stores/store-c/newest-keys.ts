import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import { RefreshToken } from './refresh-token.ts';
import type { MicrosoftSession } from './session.ts';
import { parseStoreIdKey, type StoreService } from './store-id-key.ts';

const keyFields = { collections: 'collectionsKey', purchase: 'purchaseKey' } as const;

/**
 * The looks with those StoreID keys that live longest: clients keep a key for weeks, and the one that the table has may
 * have been renewed since.
 */
export const withNewestKeys = async (
  observations: readonly Observation[],
  { session, asking: context }: { readonly session: MicrosoftSession; readonly asking: StoreContext },
): Promise<Observation[]> =>
  await Promise.all(
    observations.map(async (observation) => {
      const kept = v.safeParse(RefreshToken, await context.findRefreshToken?.(observation.purchase.purchaseId));
      if (!kept.success || !observation.refreshToken) return observation;
      return {
        ...observation,
        refreshToken: { ...observation.refreshToken, ...pickLongerLivedKeys(kept.output, observation, session) },
      };
    }),
  );

function pickLongerLivedKeys(
  kept: RefreshToken,
  { refreshToken = {} }: Observation,
  session: MicrosoftSession,
): Partial<RefreshToken> {
  const newer = (['collections', 'purchase'] as const).flatMap((service) => {
    const [key, sent] = [kept[keyFields[service]], refreshToken[keyFields[service]]];
    if (key === undefined) return [];
    return getKeyExpiration(key, service, session) > (sent === undefined ? 0 : getKeyExpiration(sent, service, session))
      ? [[keyFields[service], key]]
      : [];
  });
  return Object.fromEntries(newer);
}

/** 0 for a key that is of no use any more, such as one of another registration than the settings name now. */
function getKeyExpiration(key: string, service: StoreService, session: MicrosoftSession): EpochMillis {
  try {
    return parseStoreIdKey(key, service, session).expiresAt;
  } catch {
    return 0;
  }
}
