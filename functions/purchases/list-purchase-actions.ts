import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { purchases } from '../../composition/purchases.ts';
import { listActions } from '../../lib/actions/list-actions.ts';
import { toActionRecord } from '../../lib/actions/to-records.ts';
import { listPurchaseActions } from '../../lib/api/actions.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(listPurchaseActions, () => ({ now, purchases: purchases() }))(
  async ({ app, key, params, query, recorder }, deps) => {
    const purchaseId = toNeutralId(params.purchaseId);
    const [facts, payments] = await Promise.all([
      deps.purchases.findFacts(app.name, purchaseId),
      deps.purchases.listTransactions(app.name, [purchaseId]),
    ]);
    if (!facts) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
    recorder.addTag(purchaseId, '_P');
    const transactionId = query.transactionId && toNeutralId(query.transactionId);
    const options = { caller: { app, level: key.level }, now: deps.now(), transactionId };
    return { purchaseId, rows: listActions({ ...facts, payments }, options).map(toActionRecord) };
  },
);
