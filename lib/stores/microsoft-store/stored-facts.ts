import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { withConsumedOrders } from './fulfill.ts';
import { withKnownPeriod } from './known-period.ts';
import type { ObservedItem } from './lookup.ts';
import { parseTimestamp } from './payloads.ts';

/** Adds what stored data shows and a query does not: changes of the renewal intent, moved ends, consumed orders. */
export const withStoredFacts = async (items: readonly ObservedItem[], context: StoreContext): Promise<Observation[]> =>
  await Promise.all(
    items.map(async (item) => {
      const withChange = await withIntentChange(item, context);
      return await withConsumedOrders(await withKnownPeriod(withChange, context), context);
    }),
  );

/**
 * Adds the date on which the customer enabled auto-renewal again. Microsoft then removes the date of the cancellation,
 * so the date is the last modification.
 */
async function withIntentChange(
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
