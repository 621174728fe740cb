import { toTransactionPage } from '../../lib/api/paging.ts';
import { getCustomerTransactions } from '../../lib/customers/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listOwnedTransactionPage } from '../../lib/purchases/owned-purchase-table.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerTransactions)(async ({ app, params, query }, service) => {
  const { applicationUsername } = params;
  const page = toTransactionPage(query);
  const { transactions, purchases } = await listOwnedTransactionPage(service, app.name, applicationUsername, page);
  return { applicationUsername, transactions: toTransactionRecords(transactions, purchases) };
});
