import { listCustomers } from '../../lib/api/customers.ts';
import { pageOf } from '../../lib/api/paging.ts';
import { listedInfo } from '../../lib/customers/info.ts';
import { namesIn } from '../../lib/customers/names.ts';
import { type ListedCustomer, listedCustomer } from '../../lib/db/customers.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

export const handler = endpoint(listCustomers)(async ({ app, query }, { now, lists, customers }) => {
  const { skip, limit } = pageOf(query);
  const row = ({ username, summary }: ListedCustomer) => ({
    applicationUsername: username,
    customerInfo: listedInfo(summary, now()),
  });
  if (query.applicationUsername) {
    const named = await customers.named(app.name, namesIn(query.applicationUsername));
    return { paging: { skip, limit, total: named.length }, rows: named.slice(skip, skip + limit).map(row) };
  }
  const { items, total } = await lists.page(app.name, 'C', { skip, limit, now: now() });
  return { paging: { skip, limit, total }, rows: items.map(listedCustomer).map(row) };
});
