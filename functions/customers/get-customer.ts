import { getCustomer } from '../../lib/api/customers.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { buildCustomerInfo } from '../../lib/customers/customer-info.ts';
import { events, now, ownedPurchases } from '../../lib/deps.ts';
import { toEventInfo } from '../../lib/events/to-event-info.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

const maxEvents = 10;

export const handler = createHandler(getCustomer, { events, now, ownedPurchases })(
  async ({ app, params, query }, { now, ownedPurchases, events }) => {
    const { applicationUsername } = params;
    const [purchases, transactions, latestEvents] = await Promise.all([
      ownedPurchases.listRepresentativePurchases(app.name, applicationUsername),
      ownedPurchases.listTransactions(app.name, applicationUsername, toTransactionPage(query)),
      events.listByUser(app.name, applicationUsername, maxEvents),
    ]);
    return {
      applicationUsername,
      purchases: toPurchaseCollection(purchases, now()),
      events: latestEvents.map(toEventInfo),
      transactions: toTransactionRecords(transactions, purchases),
      customerInfo: buildCustomerInfo(purchases, now()),
    };
  },
);
