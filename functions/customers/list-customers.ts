import { listCustomers } from '../../lib/api/customers.ts';
import { toPage } from '../../lib/api/paging.ts';
import { toCustomerInfo } from '../../lib/customers/customer-info.ts';
import type { CustomerRow } from '../../lib/customers/customer-summary.ts';
import { parseUsernames } from '../../lib/customers/parse-usernames.ts';
import { parseCustomerItem } from '../../lib/db/customer-repository.ts';
import { customers, now, pagedLists } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(listCustomers, { customers, now, pagedLists })(
  async ({ app, query }, { now, pagedLists, customers }) => {
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
    const { items, total } = await pagedLists.getPage(app.name, 'C', { skip, limit, now: now() });
    return { paging: { skip, limit, total }, rows: items.map(parseCustomerItem).map(toRow) };
  },
);
