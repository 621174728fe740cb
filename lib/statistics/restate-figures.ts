import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import type { ExchangeRates } from '../money/attach-usd-rates.ts';
import { computePurchaseChange } from '../purchases/purchase-change.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { convertState, type RecordPurchase } from '../purchases/record-purchase.ts';
import type { ReportProgress } from '../shared/progress.ts';
import type { EpochMillis } from '../shared/time.ts';

interface RestateDeps {
  readonly appItems: Pick<AppItemRepository, 'scanPurchaseIds'>;
  readonly purchases: Pick<PurchaseRepository, 'load'>;
  readonly recordPurchase: RecordPurchase;
  readonly exchangeRates: ExchangeRates;
  now(): EpochMillis;
}

interface RestateOptions {
  readonly correct: boolean;
  /** Receives the number of purchases that were checked. */
  readonly reportProgress?: ReportProgress;
}

/** Number of purchases that are read concurrently. */
const concurrency = 10;

/**
 * Finds the purchases of an app whose payments lack figures or a rate, because an earlier release recorded them, or
 * have others than the rates of today give, and corrects these. Returns their number. Correcting announces
 * nothing, and the stream counts what was corrected. Idempotent.
 */
export async function restateFigures(
  { name, strategy, commissionRates, exchangeRates: ofApp }: RestatedApp,
  { appItems, purchases, recordPurchase, exchangeRates, now }: RestateDeps,
  { correct, reportProgress }: RestateOptions,
): Promise<number> {
  let [checked, found] = [0, 0];
  const check = async (purchaseId: string): Promise<void> => {
    const stored = await purchases.load(name, purchaseId);
    const update = { trigger: 'import', strategy, now: now() } as const;
    const restatedState = stored && (await convertState(stored.state, { ...exchangeRates, ofApp }));
    const rules = { ...(commissionRates && { commissionRates }), ...(restatedState && { restatedState }) };
    const change = computePurchaseChange(stored, { ...update, ...rules });
    if (change && change.changedTransactions.length + change.changedFigures.length > 0) {
      found += 1;
      // An import announces nothing that occurred before.
      if (correct) await recordPurchase(name, purchaseId, { ...update, restates: true });
    }
    checked += 1;
    reportProgress?.(checked);
  };
  for await (const purchaseIds of appItems.scanPurchaseIds(name)) await pMap(purchaseIds, check, { concurrency });
  return found;
}

type RestatedApp = Pick<App, 'name' | 'strategy' | 'commissionRates' | 'exchangeRates'>;
