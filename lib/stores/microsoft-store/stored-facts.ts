import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { withConsumedOrders } from './fulfill.ts';
import { withIntentChange } from './intent-change.ts';
import { withKnownPeriod } from './known-period.ts';
import type { ObservedItem } from './lookup.ts';

/** Adds what stored data shows and a query does not: changes of the renewal intent, moved ends, consumed orders. */
export const withStoredFacts = async (items: readonly ObservedItem[], context: StoreContext): Promise<Observation[]> =>
  await Promise.all(
    items.map(async (item) => {
      const withChange = await withIntentChange(item, context);
      return await withConsumedOrders(await withKnownPeriod(withChange, context), context);
    }),
  );
