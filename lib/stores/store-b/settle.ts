import type { Observation } from '../../purchases/observation.ts';
import { bare } from '../../purchases/platform.ts';
import { isActive, type Millis, type Purchase } from '../../purchases/purchase.ts';
import type { Asking, Validation } from '../store.ts';
import { timeLeftMs } from './deadline.ts';
import { unavailable } from './google-answer.ts';
import { lookUp } from './look-up.ts';
import { type Play, playOf } from './play.ts';
import { storeBSettings } from './settings.ts';

/**
 * Acknowledges what was just stored, and consumes consumables: what nobody acknowledges within three days Google refunds.
 * Done only where the settings say so; otherwise the app does it.
 */
export async function settle({ observations }: Validation, asking: Asking): Promise<readonly Observation[]> {
  const { acknowledge, serviceAccount, ...settings } = storeBSettings(asking.settings);
  if (!acknowledge || !serviceAccount) return [];
  const play = playOf({ ...settings, serviceAccount }, asking, timeLeftMs(asking));
  const settled: Observation[] = [];
  for (const observation of observations.filter(({ purchase }) => isOpen(purchase, asking.now()))) {
    settled.push(await settleOne(observation, play, asking));
  }
  return settled;
}

async function settleOne(observation: Observation, play: Play, { now }: Asking): Promise<Observation> {
  const { purchase, refreshToken } = observation;
  const productId = bare(purchase.productId);
  const token = refreshToken?.purchaseToken ?? bare(purchase.purchaseId);
  const { productType } = purchase;
  const isConsumable = productType === 'consumable';
  const isSubscription = productType === 'paid subscription';
  const isDone = isConsumable
    ? await play.consume(productId, token)
    : await play.acknowledge(isSubscription ? 'subscriptions' : 'products', productId, token);
  const asOf = Math.max(now(), observation.asOf + 1);
  if (isDone) {
    return {
      ...observation,
      asOf,
      purchase: { ...purchase, isAcknowledged: true, ...(isConsumable && { isConsumed: true }) },
    };
  }
  // An app that believes what is not so leaves the purchase to Google's refund: only Google's own word counts.
  const hints = { id: productId, type: productType ?? 'non consumable' };
  const found = await lookUp({ token, hints, productId, isSubscription }, { play, now: asOf });
  const same =
    typeof found === 'object' && found.observations.find((one) => one.purchase.purchaseId === purchase.purchaseId);
  if (!same || isOpen(same.purchase, asOf)) throw unavailable('Google refuses to acknowledge or consume the purchase');
  return same;
}

const isOpen = (purchase: Purchase, now: Millis): boolean =>
  isActive(purchase, now) && (purchase.productType === 'consumable' || purchase.isAcknowledged === false);
