import { toTransactionPage } from '../../lib/api/paging.ts';
import { getCustomer } from '../../lib/customers/contract.ts';
import { buildCustomerInfo } from '../../lib/customers/customer-info.ts';
import { listEventsOfUser } from '../../lib/events/event-list-table.ts';
import { toEventInfo } from '../../lib/events/to-event-info.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listOwnedWithTransactions } from '../../lib/purchases/owned-purchase-table.ts';
import { toCustomerCollection } from '../../lib/purchases/purchase-collection.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

const maxEvents = 10;

export const handler = createHandler(getCustomer)(async ({ app, params, query }, service) => {
  const { applicationUsername } = params;
  const [{ purchases, transactions }, latestEvents] = await Promise.all([
    listOwnedWithTransactions(service, app.name, applicationUsername, toTransactionPage(query)),
    listEventsOfUser(service, app.name, applicationUsername, maxEvents),
  ]);
  return {
    applicationUsername,
    purchases: toCustomerCollection(applicationUsername, purchases, service.now()),
    events: latestEvents.map(toEventInfo),
    transactions: toTransactionRecords(transactions, purchases),
    customerInfo: buildCustomerInfo(purchases, service.now()),
  };
});
