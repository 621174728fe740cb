import { ServiceError } from '../../lib/foundation/errors.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { findPurchase } from '../../lib/purchases/purchase-table.ts';
import { toTransactionRecord } from '../../lib/purchases/to-records.ts';
import { getTransaction } from '../../lib/purchases/transaction-contract.ts';
import { findTransaction } from '../../lib/purchases/transaction-table.ts';

export const handler = createHandler(getTransaction)(async ({ app, params, recorder }, service) => {
  const transactionId = toNeutralId(params.transactionId);
  const transaction = await findTransaction(service, app.name, transactionId);
  if (!transaction) throw new ServiceError('ResourceNotFound', 'The transaction is not found.');
  recorder.addTag(transactionId, '_T');
  const entitled = await findPurchase(service, app.name, transaction.purchaseId);
  return toTransactionRecord(transaction, entitled?.purchase);
});
