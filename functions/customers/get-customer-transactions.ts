import { getCustomerTransactions } from '../../lib/api/customers.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { ownedPurchases, purchases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerTransactions, { ownedPurchases, purchases })(
  async ({ app, params, query }, { ownedPurchases, purchases }) => {
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
  },
);
