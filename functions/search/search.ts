import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { events } from '../../composition/events.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { search } from '../../lib/api/search.ts';
import { createCustomerRepository } from '../../lib/db/customer-repository.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createTransactionRepository } from '../../lib/db/transaction-repository.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { search as find } from '../../lib/search/search.ts';

export const handler = createHandler(search, () => ({
  now,
  customers: createCustomerRepository(table()),
  deliveries: createDeliveryRepository(table()),
  events: events(),
  purchases: purchases(),
  transactions: createTransactionRepository(table()),
  userAliases: createUserAliasRepository(table()),
}))(async ({ app, query }, deps) => ({ results: await find(app, query.q, deps) }));
