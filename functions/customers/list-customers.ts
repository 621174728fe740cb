import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { pagedLists } from '../../composition/lists.ts';
import { table } from '../../composition/table.ts';
import { listCustomers } from '../../lib/api/customers.ts';
import { toPage } from '../../lib/api/paging.ts';
import { toCustomerInfo } from '../../lib/customers/customer-info.ts';
import type { CustomerRow } from '../../lib/customers/customer-summary.ts';
import { parseUsernames } from '../../lib/customers/parse-usernames.ts';
import { createCustomerRepository } from '../../lib/db/customer-repository.ts';
import { createCustomerListRepository } from '../../lib/db/list-repositories.ts';

export const handler = createHandler(listCustomers, () => ({
  now,
  customers: createCustomerRepository(table()),
  customerLists: createCustomerListRepository(pagedLists()),
}))(async ({ app, query }, { now, customers, customerLists }) => {
  const { skip, limit } = toPage(query);
  const toRow = ({ username, summary }: CustomerRow) => ({
    applicationUsername: username,
    customerInfo: toCustomerInfo(summary, now()),
  });
  if (query.applicationUsername) {
    const customerRows = await customers.findMany(app.name, parseUsernames(query.applicationUsername));
    return {
      paging: { skip, limit, total: customerRows.length },
      rows: customerRows.slice(skip, skip + limit).map(toRow),
    };
  }
  const { rows, total } = await customerLists.getPage(app.name, { skip, limit, now: now() });
  return { paging: { skip, limit, total }, rows: rows.map(toRow) };
});
