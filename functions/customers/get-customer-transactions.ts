import { createHandler } from '../../composition/endpoint.ts';
import { table } from '../../composition/table.ts';
import { getCustomerTransactions } from '../../lib/api/customers.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerTransactions, () => ({
  ownedPurchases: createOwnedPurchaseRepository(table()),
}))(async ({ app, params, query }, { ownedPurchases }) => {
  const { applicationUsername } = params;
  const page = toTransactionPage(query);
  const { transactions, purchases } = await ownedPurchases.listTransactionPage(app.name, applicationUsername, page);
  return { applicationUsername, transactions: toTransactionRecords(transactions, purchases) };
});
