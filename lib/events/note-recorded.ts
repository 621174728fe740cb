import type { Recorded } from '../db/purchases.ts';
import { transactionRecord } from '../purchases/records.ts';
import type { Recorder } from './recorder.ts';

/** A long receipt changes many purchases once; its event is tagged with the first of them. */
const mostTagged = 10;

/** Shows every purchase in the event, which can be found by those that changed and by the one that it is about. */
export function noteRecorded(event: Recorder, recorded: readonly Recorded[], about?: string): void {
  const rows = recorded.map(({ stored, change }) => ({ purchase: stored.known.purchase, change }));
  event.note({
    purchases: rows.map(({ purchase: { purchaseId, productId, platform } }) => ({ purchaseId, productId, platform })),
    transactions: rows.flatMap(({ change }) =>
      (change?.transactions ?? []).map(({ transaction }) => transactionRecord(transaction)),
    ),
    claims: rows.flatMap(({ purchase: { purchaseId }, change }) =>
      (change?.claims ?? []).map(({ username, how }) => ({ applicationUsername: username, purchaseId, type: how })),
    ),
    notifications: rows.flatMap(({ purchase: { purchaseId }, change }) =>
      (change?.reasons ?? []).map((reason) => ({ reason, purchaseId })),
    ),
  });
  const found = rows.filter(({ purchase, change }) => change || purchase.purchaseId === about);
  for (const { purchase, change } of found.slice(0, mostTagged)) {
    event.tag(purchase.purchaseId, '_P');
    for (const { transaction } of (change?.transactions ?? []).slice(-1)) event.tag(transaction.transactionId, '_T');
  }
}
