import type { RecordPurchaseResult } from '../db/purchase-repository.ts';
import { toTransactionRecord } from '../purchases/to-records.ts';
import type { EventRecorder } from './event-recorder.ts';

/** A long receipt changes many purchases once; its event is tagged with the first of them. */
const maxTaggedPurchases = 10;

/** Shows every purchase in the event, which can be found by those that changed and by the one that it is about. */
export function addRecordedPurchases(
  recorder: EventRecorder,
  recorded: readonly RecordPurchaseResult[],
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
  const found = rows.filter(({ purchase, change }) => change || purchase.purchaseId === requestedPurchaseId);
  for (const { purchase, change } of found.slice(0, maxTaggedPurchases)) {
    recorder.addTag(purchase.purchaseId, '_P');
    for (const { transaction } of (change?.changedTransactions ?? []).slice(-1))
      recorder.addTag(transaction.transactionId, '_T');
  }
}
