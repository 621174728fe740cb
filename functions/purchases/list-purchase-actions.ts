import { listPurchaseActions } from '../../lib/actions/contract.ts';
import { listActions } from '../../lib/actions/list-actions.ts';
import { toActionRecord } from '../../lib/actions/to-records.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { findPurchaseFacts, listTransactionsOfPurchases, requirePurchase } from '../../lib/purchases/purchase-table.ts';

export const handler = createHandler(listPurchaseActions)(async ({ app, key, params, query, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const [facts, payments] = await Promise.all([
    findPurchaseFacts(service, app.name, purchaseId),
    listTransactionsOfPurchases(service, app.name, [purchaseId]),
  ]);
  requirePurchase(facts);
  recorder.addTag(purchaseId, '_P');
  const transactionId = query.transactionId && toNeutralId(query.transactionId);
  const options = { caller: { app, level: key.level }, now: service.now(), transactionId };
  return { purchaseId, rows: listActions({ ...facts, payments }, options).map(toActionRecord) };
});
