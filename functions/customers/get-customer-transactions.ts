import { createHandler } from '../../composition/endpoint.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { getCustomerTransactions } from '../../lib/api/customers.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerTransactions, () => ({
  ownedPurchases: createOwnedPurchaseRepository(table()),
  purchases: purchases(),
}))(async ({ app, params, query }, { ownedPurchases, purchases }) => {
  const { applicationUsername } = params;
  const page = toTransactionPage(query);
  const transactions = await ownedPurchases.listTransactions(app.name, applicationUsername, page);
  const entitledPurchases = await purchases.findMany(
    app.name,
    transactions.map(({ purchaseId }) => purchaseId),
  );
  const records = toTransactionRecords(
    transactions,
    entitledPurchases.map(({ purchase }) => purchase),
  );
  return { applicationUsername, transactions: records };
});
