import type { PurchaseChange } from '../purchases/purchase-change.ts';
import type { StoredPurchase } from '../purchases/stored-purchase.ts';
import { toTransactionRecord } from '../purchases/to-records.ts';
import type { EventRecorder } from './event-recorder.ts';

interface RecordedPurchase {
  readonly stored: Pick<StoredPurchase, 'state'>;
  /** Undefined if the stored purchase did not change. */
  readonly change?: PurchaseChange;
}

/** A receipt can change many purchases; the event is tagged with the first ones only. */
const maxTaggedPurchases = 10;

/** Adds the recorded purchases to an event. Tags it with the changed purchases and the requested purchase. */
export function addRecordedPurchases(
  recorder: EventRecorder,
  recorded: readonly RecordedPurchase[],
  requestedPurchaseId?: string,
): void {
  const rows = recorded.map(({ stored, change }) => ({ purchase: stored.state.purchase, change }));
  recorder.addContent({
    purchases: rows.map(({ purchase: { purchaseId, productId, platform } }) => ({ purchaseId, productId, platform })),
    transactions: rows.flatMap(({ change }) =>
      (change?.changedTransactions ?? []).map(({ transaction }) => toTransactionRecord(transaction)),
    ),
    claims: rows.flatMap(({ purchase: { purchaseId }, change }) =>
      (change?.newClaims ?? []).map(({ username, source }) => ({
        applicationUsername: username,
        purchaseId,
        type: source,
      })),
    ),
    notifications: rows.flatMap(({ purchase: { purchaseId }, change }) =>
      (change?.lifecycleReasons ?? []).map((reason) => ({ reason, purchaseId })),
    ),
  });
  const taggedRows = rows.filter(({ purchase, change }) => change || purchase.purchaseId === requestedPurchaseId);
  for (const { purchase, change } of taggedRows.slice(0, maxTaggedPurchases)) {
    recorder.addTag(purchase.purchaseId, '_P');
    for (const { transaction } of (change?.changedTransactions ?? []).slice(-1))
      recorder.addTag(transaction.transactionId, '_T');
  }
}
