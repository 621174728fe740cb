import { toCursorPage, toPage } from '../../lib/api/paging.ts';
import { type CustomerSummary, listCustomers } from '../../lib/customers/contract.ts';
import { toCustomerInfo } from '../../lib/customers/customer-info.ts';
import type { CustomerRow } from '../../lib/customers/customer-summary.ts';
import { findCustomerRows } from '../../lib/customers/customer-table.ts';
import { parseUsernames } from '../../lib/customers/parse-usernames.ts';
import { readSpend } from '../../lib/customers/read-spend.ts';
import { searchCustomers } from '../../lib/entitlements/find-customers.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { toIsoSeconds } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getCustomerPage } from '../../lib/lists/list-tables.ts';

const maxSpendRows = 100;
const filterNames = ['order', 'cursor', 'state', 'entitlement', 'platform', 'productId', 'sandbox'] as const;

export const handler = createHandler(listCustomers)(async ({ app, query }, service) => {
  const { now } = service;
  const { skip, limit } = toPage(query);
  const toRow = ({ username, summary }: CustomerRow): CustomerSummary => ({
    applicationUsername: username,
    customerInfo: toCustomerInfo(summary, now()),
  });
  const toDatedRow = (row: CustomerRow): CustomerSummary => ({ ...toRow(row), createdAt: toIsoSeconds(row.createdAt) });
  if (query.applicationUsername) {
    const customerRows = await findCustomerRows(service, app.name, parseUsernames(query.applicationUsername));
    const page = customerRows.slice(skip, skip + limit);
    const paging = { skip, limit, total: customerRows.length };
    if (query.include_spend !== 'true') return { paging, rows: page.map(toRow) };
    if (page.length > maxSpendRows)
      throw new ServiceError('InvalidPayload', `include_spend is possible for at most ${maxSpendRows} customers.`);
    const rows = await Promise.all(
      page.map(async (row) => ({ ...toDatedRow(row), spend: await readSpend(service, app.name, row.username) })),
    );
    return { paging, rows };
  }
  if (filterNames.some((name) => query[name] !== undefined)) {
    const { state, entitlement, platform, productId, sandbox, order = 'oldest', cursor } = query;
    const filter = {
      state,
      entitlement,
      platform,
      productId,
      isSandbox: sandbox && sandbox === 'true',
    };
    const { rows, next } = await searchCustomers(service, app, { filter, order, limit, cursor });
    return { paging: { skip: 0, limit, total: rows.length }, ...toCursorPage(rows.map(toDatedRow), next) };
  }
  const { rows, total } = await getCustomerPage(service, app.name, { skip, limit, now: now() });
  return { paging: { skip, limit, total }, rows: rows.map(toRow) };
});
