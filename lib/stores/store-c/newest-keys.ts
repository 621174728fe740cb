import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Asking } from '../store.ts';
import { RefreshToken } from './refresh-token.ts';
import type { Session } from './session.ts';
import { readKey, type Service } from './store-id-key.ts';

const members = { collections: 'collectionsKey', purchase: 'purchaseKey' } as const;

/**
 * The looks with those StoreID keys that live longest: clients keep a key for weeks, and the one that the table has may
 * have been renewed since.
 */
export const withNewestKeys = async (
  observations: readonly Observation[],
  { session, asking }: { readonly session: Session; readonly asking: Asking },
): Promise<Observation[]> =>
  await Promise.all(
    observations.map(async (observation) => {
      const kept = v.safeParse(RefreshToken, await asking.refreshTokenOf?.(observation.purchase.purchaseId));
      if (!kept.success || !observation.refreshToken) return observation;
      return {
        ...observation,
        refreshToken: { ...observation.refreshToken, ...longerLived(kept.output, observation, session) },
      };
    }),
  );

function longerLived(kept: RefreshToken, { refreshToken = {} }: Observation, session: Session): Partial<RefreshToken> {
  const newer = (['collections', 'purchase'] as const).flatMap((service) => {
    const [key, sent] = [kept[members[service]], refreshToken[members[service]]];
    if (key === undefined) return [];
    return endOf(key, service, session) > (sent === undefined ? 0 : endOf(sent, service, session))
      ? [[members[service], key]]
      : [];
  });
  return Object.fromEntries(newer);
}

/** 0 for a key that is of no use any more, such as one of another registration than the settings name now. */
function endOf(key: string, service: Service, session: Session): Millis {
  try {
    return readKey(key, service, session).expiresAt;
  } catch {
    return 0;
  }
}
