import type { Observation } from '../../purchases/observation.ts';
import { isActive, type Purchase } from '../../purchases/purchase.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreValidation } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { getFulfillBudgetMs } from '../time-budget.ts';
import { unavailableError } from './api-errors.ts';
import type { StoredData } from './known-purchases.ts';
import { lookUpToken } from './lookup.ts';
import { createPlayApi, type PlayApi } from './play-api.ts';
import { defaultBudgetMs } from './request-budget.ts';
import { parseStoredSettings } from './settings.ts';

/**
 * Acknowledges the stored purchases and consumes consumables if the settings say so; otherwise the app does it. Google
 * refunds a purchase that is not acknowledged within three days.
 * @see https://developer.android.com/google/play/billing/integrate#process
 */
export async function fulfill(validation: StoreValidation, context: StoreContext): Promise<readonly Observation[]> {
  const { acknowledge, serviceAccount, ...settings } = parseStoredSettings(context.settings);
  if (!acknowledge || !serviceAccount) return [];
  const play = createPlayApi({ ...settings, serviceAccount }, context, {
    budgetMs: getFulfillBudgetMs(validation.fulfillDeadline, defaultBudgetMs, context.stopwatch),
  });
  const lookup = { play, now: context.now, storedData: context };
  const fulfilled: Observation[] = [];
  for (const observation of validation.observations) {
    if (!needsFulfillment(observation.purchase, context.now())) continue;
    fulfilled.push(await fulfillPurchase(observation, lookup));
  }
  return fulfilled;
}

interface FulfillContext {
  readonly play: PlayApi;
  readonly now: () => EpochMillis;
  readonly storedData: StoredData;
}

async function fulfillPurchase(
  observation: Observation,
  { play, now, storedData }: FulfillContext,
): Promise<Observation> {
  const { purchase, refreshToken } = observation;
  const { productType } = purchase;
  const productId = withoutPlatform(purchase.productId);
  const token = refreshToken?.purchaseToken ?? withoutPlatform(purchase.purchaseId);
  const isConsumable = purchase.serviceConsumption !== undefined;
  const isSubscription = productType === 'paid subscription';
  const isFulfilled = isConsumable
    ? await play.consume(productId, token)
    : await play.acknowledge(isSubscription ? 'subscriptions' : 'products', productId, token);
  const asOf = Math.max(now(), observation.asOf + 1);
  if (isFulfilled) {
    return {
      ...observation,
      asOf,
      purchase: { ...purchase, isAcknowledged: true, ...(isConsumable && { isConsumed: true }) },
    };
  }
  // The purchase may be acknowledged already. Only the queried state proves it: otherwise Google would refund it.
  const hints = { id: productId, type: productType ?? 'non consumable' };
  const result = await lookUpToken({ token, hints, productId, isSubscription }, { play, now: asOf, storedData });
  const current =
    typeof result === 'object' && result.observations.find((item) => item.purchase.purchaseId === purchase.purchaseId);
  if (!current || (isConsumable && !current.purchase.isConsumed) || needsFulfillment(current.purchase, asOf))
    throw unavailableError('Google rejects to acknowledge or consume the purchase');
  return current;
}

const needsFulfillment = (purchase: Purchase, now: EpochMillis): boolean =>
  isActive(purchase, now) && (purchase.serviceConsumption !== undefined || purchase.isAcknowledged === false);
