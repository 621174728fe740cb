import { toPagesAdvice } from '../../lib/api/limits.ts';
import { toTransactionPage } from '../../lib/api/paging.ts';
import { getCustomer } from '../../lib/customers/contract.ts';
import { buildCustomerInfo } from '../../lib/customers/customer-info.ts';
import { listEventsOfUser } from '../../lib/events/event-list-table.ts';
import { toEventInfo } from '../../lib/events/to-event-info.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';
import { listOwnedWithTransactions } from '../../lib/purchases/owned-purchase-table.ts';
import { toPurchaseCollection } from '../../lib/purchases/purchase-collection.ts';
import { toTransactionRecords } from '../../lib/purchases/to-records.ts';

const maxEvents = 10;

export const handler = createHandler(getCustomer)(async ({ app, params, query }, service) => {
  const { applicationUsername } = params;
  const [{ purchases, transactions }, latestEvents] = await Promise.all([
    listOwnedWithTransactions(service, app.name, applicationUsername, toTransactionPage(query)),
    listEventsOfUser(service, app.name, applicationUsername, maxEvents),
  ]);
  return createReply({
    body: {
      applicationUsername,
      purchases: toPurchaseCollection(purchases, service.now()),
      events: latestEvents.map(toEventInfo),
      transactions: toTransactionRecords(transactions, purchases),
      customerInfo: buildCustomerInfo(purchases, service.now()),
    },
    sizeAdvice: `Request fewer rows. ${toPagesAdvice(applicationUsername)}`,
  });
});
