import { getCustomer } from '../../lib/api/customers.ts';
import { buildCustomerInfo } from '../../lib/customers/customer-info.ts';
import { toEventInfo } from '../../lib/events/to-event-info.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { toTransactionRecord } from '../../lib/purchases/to-records.ts';

const maxEvents = 10;

export const handler = createHandler(getCustomer)(async ({ app, params }, { now, purchases, events }) => {
  const { applicationUsername } = params;
  const [ownedPurchases, latestEvents] = await Promise.all([
    purchases.listByUser(app.name, applicationUsername),
    events.listByUser(app.name, applicationUsername, maxEvents),
  ]);
  const transactions = await purchases.listTransactions(
    app.name,
    ownedPurchases.map(({ purchaseId }) => purchaseId),
  );
  const purchasesById = new Map(ownedPurchases.map((purchase) => [purchase.purchaseId, purchase]));
  return {
    applicationUsername,
    purchases: toPurchaseCollection(ownedPurchases, now()),
    events: latestEvents.map(toEventInfo),
    transactions: transactions.map((transaction) =>
      toTransactionRecord(transaction, purchasesById.get(transaction.purchaseId)),
    ),
    customerInfo: buildCustomerInfo(ownedPurchases, now()),
  };
});
