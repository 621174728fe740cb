import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import { lacksPaymentFigures } from '../purchases/add-payment-figures.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import type { RecordPurchase } from '../purchases/record-purchase.ts';
import type { ReportProgress } from '../shared/progress.ts';
import type { EpochMillis } from '../shared/time.ts';

interface MissingFiguresDeps {
  readonly appItems: Pick<AppItemRepository, 'scanPurchaseIds'>;
  readonly purchases: Pick<PurchaseRepository, 'load'>;
  readonly recordPurchase: RecordPurchase;
  now(): EpochMillis;
}

interface MissingFiguresOptions {
  /** Whether the figures are added. */
  readonly add: boolean;
  /** Receives the number of purchases that were checked. */
  readonly reportProgress?: ReportProgress;
}

/** Number of purchases that are read concurrently. */
const concurrency = 10;

/**
 * Finds the purchases of an app that an earlier release recorded without the figures of payments, and adds these.
 * Returns their number. Adding announces nothing, and the stream counts what was added. Idempotent.
 */
export async function addMissingFigures(
  { name, strategy }: Pick<App, 'name' | 'strategy'>,
  { appItems, purchases, recordPurchase, now }: MissingFiguresDeps,
  { add, reportProgress }: MissingFiguresOptions,
): Promise<number> {
  let [checked, found] = [0, 0];
  const check = async (purchaseId: string): Promise<void> => {
    const stored = await purchases.load(name, purchaseId);
    if (stored && lacksPaymentFigures(stored.state)) {
      found += 1;
      // An import announces nothing that occurred before.
      if (add) await recordPurchase(name, purchaseId, { trigger: 'import', strategy, now: now() });
    }
    checked += 1;
    reportProgress?.(checked);
  };
  for await (const purchaseIds of appItems.scanPurchaseIds(name)) await pMap(purchaseIds, check, { concurrency });
  return found;
}
