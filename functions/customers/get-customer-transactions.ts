import { getCustomerTransactions } from '../../lib/api/customers.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toTransactionRecord } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerTransactions)(async ({ app, params, query }, { ownedPurchases }) => {
  const { applicationUsername } = params;
  const page = toTransactionPage(query);
  const transactions = await ownedPurchases.listTransactions(app.name, applicationUsername, page);
  return { applicationUsername, transactions: transactions.map(toTransactionRecord) };
});
