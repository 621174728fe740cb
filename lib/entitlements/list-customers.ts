import type * as v from 'valibot';
import { toCursorPage, toPage } from '../api/paging.ts';
import type { App } from '../apps/app.ts';
import type { CustomerSummary, listCustomers } from '../customers/contract.ts';
import { toCustomerInfo } from '../customers/customer-info.ts';
import type { CustomerRow } from '../customers/customer-summary.ts';
import { findCustomerRows } from '../customers/customer-table.ts';
import { parseUsernames } from '../customers/parse-usernames.ts';
import { readSpend } from '../customers/read-spend.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { FailedItem } from '../foundation/failed-items.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, toIsoSeconds } from '../foundation/time.ts';
import { getCustomerPage } from '../lists/list-tables.ts';
import { attemptRows, toUnreadableIds } from '../lists/unreadable-rows.ts';
import { searchCustomers } from './find-customers.ts';

type Query = v.InferOutput<typeof listCustomers.query>;
type CustomerList = v.InferInput<typeof listCustomers.response>;

const maxSpendRows = 100;
const filterNames = ['order', 'cursor', 'state', 'entitlement', 'platform', 'productId', 'sandbox'] as const;

/** Lists customers by their usernames, by a filter, or all of them by their place in the list. */
export async function listCustomerSummaries(service: Service, app: App, query: Query): Promise<CustomerList> {
  if (query.applicationUsername) return await listByName(service, app, { ...query, names: query.applicationUsername });
  if (filterNames.some((name) => query[name] !== undefined)) return await listByFilter(service, app, query);
  const { skip, limit } = toPage(query);
  const now = service.now();
  const { failed, attempt } = attemptRows(app.name);
  const { rows, total } = await getCustomerPage(service, app.name, { skip, limit, now, attempt });
  return { paging: { skip, limit, total }, rows: rows.map((row) => toSummary(row, now)), ...toUnreadableUsers(failed) };
}

async function listByName(
  service: Service,
  { name: appName }: App,
  { names, ...query }: Query & { readonly names: string },
): Promise<CustomerList> {
  const now = service.now();
  const { skip, limit } = toPage(query);
  const { failed, attempt } = attemptRows(appName);
  const customers = await findCustomerRows(service, appName, parseUsernames(names), attempt);
  const page = customers.slice(skip, skip + limit);
  const common = { paging: { skip, limit, total: customers.length }, ...toUnreadableUsers(failed) };
  if (query.include_spend !== 'true') return { ...common, rows: page.map((row) => toSummary(row, now)) };
  if (page.length > maxSpendRows)
    throw new ServiceError('InvalidPayload', `include_spend is possible for at most ${maxSpendRows} customers.`);
  const toRow = async (row: CustomerRow): Promise<CustomerSummary> => ({
    ...toDatedSummary(row, now),
    spend: await readSpend(service, appName, row.username),
  });
  return { ...common, rows: await Promise.all(page.map(toRow)) };
}

async function listByFilter(service: Service, app: App, query: Query): Promise<CustomerList> {
  const now = service.now();
  const { state, entitlement, platform, productId, sandbox, order = 'oldest', cursor } = query;
  const { limit } = toPage(query);
  const filter = { state, entitlement, platform, productId, isSandbox: sandbox && sandbox === 'true' };
  const { failed, attempt } = attemptRows(app.name);
  const { rows, next } = await searchCustomers(service, app, { filter, order, limit, cursor, attempt });
  const summaries = rows.map((row) => toDatedSummary(row, now));
  const paging = { skip: 0, limit, total: rows.length };
  return { paging, ...toCursorPage(summaries, next), ...toUnreadableUsers(failed) };
}

/** As usernames, which a response does not convert to the vocabulary of the app. */
function toUnreadableUsers(failed: readonly FailedItem[]): { unreadableUsers?: string[] } {
  const { unreadableIds } = toUnreadableIds(failed);
  return unreadableIds ? { unreadableUsers: unreadableIds } : {};
}

const toSummary = ({ username, summary }: CustomerRow, now: EpochMillis): CustomerSummary => ({
  applicationUsername: username,
  customerInfo: toCustomerInfo(summary, now),
});

const toDatedSummary = (row: CustomerRow, now: EpochMillis): CustomerSummary => ({
  ...toSummary(row, now),
  createdAt: toIsoSeconds(row.createdAt),
});
