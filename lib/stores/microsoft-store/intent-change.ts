import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import type { ObservedItem } from './lookup.ts';
import { parseTimestamp } from './timestamps.ts';

/**
 * Adds the date on which the customer enabled auto-renewal again. Microsoft then removes the date of the cancellation,
 * so the date is the last modification.
 */
export async function withIntentChange(
  { observation, nativeTransaction }: ObservedItem,
  { findPurchase }: Pick<StoreContext, 'findPurchase'>,
): Promise<Observation> {
  const { purchase, asOf } = observation;
  if (purchase.renewalIntent !== 'Renew') return observation;
  const stored = await findPurchase?.(purchase.purchaseId);
  if (stored?.renewalIntent !== 'Lapse') return observation;
  const { lastModified } = nativeTransaction;
  const modifiedAt = typeof lastModified === 'string' ? parseTimestamp(lastModified) : undefined;
  return { ...observation, purchase: { ...purchase, renewalIntentChangeDate: modifiedAt ?? asOf } };
}
