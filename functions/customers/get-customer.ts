import { getCustomer } from '../../lib/api/customers.ts';
import { customerInfo } from '../../lib/customers/info.ts';
import { eventInfo } from '../../lib/events/event-info.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { collectionOf } from '../../lib/purchases/collection.ts';
import { transactionRecord } from '../../lib/purchases/records.ts';

const latestEvents = 10;

export const handler = endpoint(getCustomer)(async ({ app, params }, { now, purchases, events }) => {
  const { applicationUsername } = params;
  const [owned, latest] = await Promise.all([
    purchases.ownedBy(app.name, applicationUsername),
    events.latestOf(app.name, applicationUsername, latestEvents),
  ]);
  const transactions = await purchases.transactionsOf(
    app.name,
    owned.map(({ purchaseId }) => purchaseId),
  );
  return {
    applicationUsername,
    purchases: collectionOf(owned, now()),
    events: latest.map(eventInfo),
    transactions: transactions.map(transactionRecord),
    customerInfo: customerInfo(owned, now()),
  };
});
