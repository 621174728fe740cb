import type { Observation } from '../../purchases/observation.ts';
import { bare } from '../../purchases/platform.ts';
import type { Asking, Validation } from '../store.ts';
import { playOf } from './play.ts';
import { storeBSettings } from './settings.ts';

/**
 * Acknowledges what was just stored, and consumes consumables: what nobody acknowledges within three days Google refunds.
 * Done only where the settings say so; otherwise the app does it.
 */
export async function settle({ observations }: Validation, asking: Asking): Promise<readonly Observation[]> {
  const { acknowledge, serviceAccount, ...settings } = storeBSettings(asking.settings);
  if (!acknowledge || !serviceAccount) return [];
  const play = playOf({ ...settings, serviceAccount }, asking);
  const settled: Observation[] = [];
  for (const observation of observations.filter(isOpen)) {
    const { purchase, refreshToken } = observation;
    const productId = bare(purchase.productId);
    const token = refreshToken?.purchaseToken ?? bare(purchase.purchaseId);
    const isConsumable = purchase.productType === 'consumable';
    if (isConsumable) await play.consume(productId, token);
    else
      await play.acknowledge(
        purchase.productType === 'paid subscription' ? 'subscriptions' : 'products',
        productId,
        token,
      );
    const asOf = asking.now();
    settled.push({
      ...observation,
      asOf: Math.max(asOf, observation.asOf + 1),
      purchase: { ...purchase, isAcknowledged: true, ...(isConsumable && { isConsumed: true }) },
    });
  }
  return settled;
}

const isOpen = ({ purchase }: Observation): boolean =>
  purchase.isPending !== true &&
  purchase.endedAt === undefined &&
  (purchase.productType === 'consumable' ? purchase.isConsumed !== true : purchase.isAcknowledged === false);
