import { getCustomerTransactions } from '../../lib/api/customers.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { transactionRecord } from '../../lib/purchases/records.ts';

export const handler = endpoint(getCustomerTransactions)(async ({ app, params }, { purchases }) => {
  const { applicationUsername } = params;
  const owned = await purchases.ownedBy(app.name, applicationUsername);
  const transactions = await purchases.transactionsOf(
    app.name,
    owned.map(({ purchaseId }) => purchaseId),
  );
  return { applicationUsername, transactions: transactions.map(transactionRecord) };
});
