import { getCustomerTransactions } from '../../lib/api/customers.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toTransactionRecord } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(getCustomerTransactions)(async ({ app, params }, { purchases }) => {
  const { applicationUsername } = params;
  const ownedPurchases = await purchases.listByUser(app.name, applicationUsername);
  const transactions = await purchases.listTransactions(
    app.name,
    ownedPurchases.map(({ purchaseId }) => purchaseId),
  );
  const purchasesById = new Map(ownedPurchases.map((purchase) => [purchase.purchaseId, purchase]));
  return {
    applicationUsername,
    transactions: transactions.map((transaction) =>
      toTransactionRecord(transaction, purchasesById.get(transaction.purchaseId)),
    ),
  };
});
