import type { Observation } from '../../purchases/observation.ts';
import { isActive, type Purchase } from '../../purchases/purchase.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreValidation } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { unavailableError } from './api-errors.ts';
import { lookUpToken } from './lookup.ts';
import { createPlayApi, type PlayApi } from './play-api.ts';
import { parseStoredSettings } from './settings.ts';
import { getRemainingMs } from './validation-budget.ts';

/**
 * Acknowledges what was just stored, and consumes consumables: what nobody acknowledges within three days Google refunds.
 * Done only where the settings say so; otherwise the app does it.
 */
export async function fulfill(
  { observations }: StoreValidation,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const { acknowledge, serviceAccount, ...settings } = parseStoredSettings(context.settings);
  if (!acknowledge || !serviceAccount) return [];
  const play = createPlayApi({ ...settings, serviceAccount }, context, getRemainingMs(context));
  const fulfilled: Observation[] = [];
  for (const observation of observations.filter(({ purchase }) => needsFulfillment(purchase, context.now()))) {
    fulfilled.push(await fulfillPurchase(observation, play, context));
  }
  return fulfilled;
}

async function fulfillPurchase(observation: Observation, play: PlayApi, { now }: StoreContext): Promise<Observation> {
  const { purchase, refreshToken } = observation;
  const productId = withoutPlatform(purchase.productId);
  const token = refreshToken?.purchaseToken ?? withoutPlatform(purchase.purchaseId);
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
  const found = await lookUpToken({ token, hints, productId, isSubscription }, { play, now: asOf });
  const same =
    typeof found === 'object' &&
    found.observations.find((observation) => observation.purchase.purchaseId === purchase.purchaseId);
  if (!same || needsFulfillment(same.purchase, asOf))
    throw unavailableError('Google refuses to acknowledge or consume the purchase');
  return same;
}

const needsFulfillment = (purchase: Purchase, now: EpochMillis): boolean =>
  isActive(purchase, now) && (purchase.productType === 'consumable' || purchase.isAcknowledged === false);
