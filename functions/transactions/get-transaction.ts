import { createHandler } from '../../composition/endpoint.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { getTransaction } from '../../lib/api/transactions.ts';
import { createTransactionRepository } from '../../lib/db/transaction-repository.ts';
import { toTransactionRecord } from '../../lib/purchases/to-records.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

export const handler = createHandler(getTransaction, () => ({
  purchases: purchases(),
  transactions: createTransactionRepository(table()),
}))(async ({ app, params, recorder }, { purchases, transactions }) => {
  const transactionId = toNeutralId(params.transactionId);
  const transaction = await transactions.find(app.name, transactionId);
  if (!transaction) throw new ServiceError('ResourceNotFound', 'The transaction is not found.');
  recorder.addTag(transactionId, '_T');
  const entitled = await purchases.find(app.name, transaction.purchaseId);
  return toTransactionRecord(transaction, entitled?.purchase);
});
