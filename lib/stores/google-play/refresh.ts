import { parse } from '../../foundation/parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { markForFulfillment } from './fulfill.ts';
import { lookUpToken } from './lookup.ts';
import { observeDeletion } from './missing-token.ts';
import { connectPlay } from './play-api.ts';
import { RefreshToken } from './refresh-token.ts';
import { parseStoredSettings } from './settings.ts';

/**
 * Queries Google Play for the current state of a purchase. Returns no observations if Google no longer has the token of
 * an expired purchase.
 */
export async function refresh(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const { purchaseToken: token, kind, productId } = parse(RefreshToken, refreshToken, 'InternalError');
  const isSubscription = kind === 'subscription';
  const hints =
    kind === 'consumable' || kind === 'non consumable' ? ({ id: productId, type: kind } as const) : undefined;
  const request = { token, hints, productId, isSubscription };
  const now = context.now();
  const result = await lookUpToken(request, { play: connectPlay(context), now, storedData: context });
  if (typeof result === 'object')
    return markForFulfillment(result.observations, parseStoredSettings(context.settings), now);
  return result === 'invalid' ? [] : await observeDeletion({ token, productId, now, storedData: context });
}
