import type { CustomerRow } from '../customers/customer-summary.ts';
import { parseCustomerItem } from '../customers/customer-table.ts';
import type { Attempt } from '../foundation/failed-items.ts';
import { purchaseKey } from '../foundation/keys.ts';
import type { DateRange, ListPage, PageRequest, RowSearch } from '../foundation/list-page.ts';
import type { CursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import type { ItemImage } from '../foundation/stream-record.ts';
import type { Item } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { parsePurchaseItem } from '../purchases/purchase-item.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { parseTransactionItem } from '../purchases/transaction-item.ts';
import {
  findListRows,
  getItemPage,
  listUpdatedPurchaseKeys,
  loadListedItems,
  scanUpdatedPurchaseItems,
} from './paged-list.ts';
import { parseRows, toRowParser } from './unreadable-rows.ts';

/** A purchase in a list. */
export interface ListedPurchase extends EntitledPurchase {
  readonly updatedAt: EpochMillis;
  readonly hasRefreshToken: boolean;
}

/** Without `attempt`, a list fails with a row that is not readable. */
interface RowOptions {
  readonly attempt?: Attempt | undefined;
}

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getPurchasePage(
  service: Service,
  appName: string,
  { attempt, ...request }: PageRequest & RowOptions,
): Promise<ListPage<ListedPurchase>> {
  const { items, total } = await getItemPage(service, appName, 'purchases', request);
  return { rows: await parseRows(items, parseListedPurchase, attempt), total };
}

/** Lists the ids of the purchases changed in the range, by time of the change. At most 10,000. */
export async function listUpdatedPurchaseIds(
  service: Service,
  appName: string,
  range: DateRange,
): Promise<readonly string[]> {
  const updatedKeys = await listUpdatedPurchaseKeys(service, appName, range);
  return updatedKeys.map(({ pk }) => purchaseKey.parsePartition(pk).purchaseId);
}

/** Returns the purchases that exist, in the order of the ids. */
export async function findListedPurchases(
  service: Service,
  appName: string,
  purchaseIds: readonly string[],
  attempt?: Attempt,
): Promise<ListedPurchase[]> {
  const items = await loadListedItems(
    service,
    purchaseIds.map((id) => purchaseKey(appName, id)),
  );
  return await parseRows(items, parseListedPurchase, attempt);
}

/** Returns the purchases of other rows. Strongly consistent. */
export async function findPurchasesOfRows(
  { table }: Service,
  appName: string,
  purchaseIds: readonly string[],
  attempt: Attempt,
): Promise<EntitledPurchase[]> {
  const items = await table.batchGet([...new Set(purchaseIds)].map((id) => purchaseKey(appName, id)));
  return await parseRows(items, parsePurchaseItem, attempt);
}

/**
 * Scans the purchases changed since `startdate` as the stream contains them, in batches. A purchase that changes
 * during the scan can be repeated.
 */
export function scanPurchasesUpdatedSince(
  service: Service,
  appName: string,
  startdate: EpochMillis,
): AsyncIterable<readonly ItemImage[]> {
  return scanUpdatedPurchaseItems(service, appName, startdate);
}

/** Finds the transactions that match, by purchase date. */
export async function findListedTransactions(
  service: Service,
  appName: string,
  { attempt, ...search }: RowSearch<Transaction> & RowOptions,
): Promise<CursorPage<Transaction>> {
  const parseItem = toRowParser(parseTransactionItem, attempt);
  return await findListRows(service, appName, 'transactions', { search, parseItem });
}

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getTransactionPage(
  service: Service,
  appName: string,
  { attempt, ...request }: PageRequest & RowOptions,
): Promise<ListPage<Transaction>> {
  const { items, total } = await getItemPage(service, appName, 'transactions', request);
  return { rows: await parseRows(items, parseTransactionItem, attempt), total };
}

/** Finds the customers that match, by the time of their creation. */
export async function findCustomers(
  service: Service,
  appName: string,
  { attempt, ...search }: RowSearch<CustomerRow> & RowOptions,
): Promise<CursorPage<CustomerRow>> {
  const parseItem = toRowParser(parseCustomerItem, attempt);
  return await findListRows(service, appName, 'customers', { search, parseItem });
}

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getCustomerPage(
  service: Service,
  appName: string,
  { attempt, ...request }: PageRequest & RowOptions,
): Promise<ListPage<CustomerRow>> {
  const { items, total } = await getItemPage(service, appName, 'customers', request);
  return { rows: await parseRows(items, parseCustomerItem, attempt), total };
}

function parseListedPurchase(item: Item): ListedPurchase {
  const { purchase, entitledUsers, updatedAt, refreshToken } = parsePurchaseItem(item);
  return { purchase, entitledUsers, updatedAt, hasRefreshToken: refreshToken !== undefined };
}
