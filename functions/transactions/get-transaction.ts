import { getTransaction } from '../../lib/api/transactions.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { neutralId } from '../../lib/http/vocabulary.ts';
import { transactionRecord } from '../../lib/purchases/records.ts';

export const handler = endpoint(getTransaction)(async ({ app, params, event }, { transactions }) => {
  const transactionId = neutralId(params.transactionId);
  const transaction = await transactions.find(app.name, transactionId);
  if (!transaction) throw new ServiceError('ResourceNotFound', 'There is no such transaction.');
  event.tag(transactionId, '_T');
  return transactionRecord(transaction);
});
