import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { attemptItems, type FailedItem } from '../foundation/failed-items.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import { scanPurchaseIds } from '../purchases/app-item-table.ts';
import { convertState } from '../purchases/prepare-update.ts';
import { computePurchaseChange } from '../purchases/purchase-change.ts';
import { findStoredPurchase } from '../purchases/purchase-table.ts';
import { recordPurchase } from '../purchases/record-purchase.ts';

interface RestateOptions {
  readonly correct: boolean;
  /** Receives the number of purchases that were checked. */
  readonly reportProgress?: ReportProgress;
}

interface RestateResult {
  /** Number of purchases with figures that are missing or differ. */
  readonly found: number;
  readonly failed: readonly FailedItem[];
}

/** Number of purchases that are read concurrently. */
const concurrency = 10;

/**
 * Finds the purchases of an app whose payments lack figures or a rate, because an earlier release recorded them, or
 * have others than the rates of today give, and corrects these. Correcting announces nothing, and the
 * stream counts what was corrected. Idempotent.
 */
export async function restateFigures(
  service: Service,
  { name, strategy, commissionRates, exchangeRates: appRates }: RestatedApp,
  { correct, reportProgress }: RestateOptions,
): Promise<RestateResult> {
  let [checked, found] = [0, 0];
  const { attempt, failed } = attemptItems({ worker: 'recount', app: name });
  const check = async (purchaseId: string): Promise<void> => {
    const stored = await findStoredPurchase(service, name, purchaseId);
    const update = { trigger: 'import', strategy, now: service.now() } as const;
    const restatedState = stored && (await convertState(service, stored.state, appRates));
    const rules = { ...(commissionRates && { commissionRates }), ...(restatedState && { restatedState }) };
    const change = computePurchaseChange(stored, { ...update, ...rules });
    if (change && change.changedTransactions.length + change.changedFigures.length > 0) {
      found += 1;
      // An import announces nothing that occurred before.
      if (correct) await recordPurchase(service, name, purchaseId, { ...update, restates: true });
    }
    checked += 1;
    reportProgress?.(checked);
  };
  for await (const purchaseIds of scanPurchaseIds(service, name))
    await pMap(purchaseIds, async (id) => await attempt(id, async () => await check(id)), { concurrency });
  return { found, failed };
}

type RestatedApp = Pick<App, 'name' | 'strategy' | 'commissionRates' | 'exchangeRates'>;
