import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { events } from '../../composition/events.ts';
import { table } from '../../composition/table.ts';
import { getCustomer } from '../../lib/api/customers.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { buildCustomerInfo } from '../../lib/customers/customer-info.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { toEventInfo } from '../../lib/events/to-event-info.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

const maxEvents = 10;

export const handler = createHandler(getCustomer, () => ({
  events: events(),
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
}))(async ({ app, params, query }, { now, ownedPurchases, events }) => {
  const { applicationUsername } = params;
  const [{ purchases, transactions }, latestEvents] = await Promise.all([
    ownedPurchases.listWithTransactions(app.name, applicationUsername, toTransactionPage(query)),
    events.listByUser(app.name, applicationUsername, maxEvents),
  ]);
  return {
    applicationUsername,
    purchases: toPurchaseCollection(purchases, now()),
    events: latestEvents.map(toEventInfo),
    transactions: toTransactionRecords(transactions, purchases),
    customerInfo: buildCustomerInfo(purchases, now()),
  };
});
