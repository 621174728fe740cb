import type { CustomerRow } from '../customers/customer-summary.ts';
import { parseCustomerItem } from '../customers/customer-table.ts';
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

/** A purchase in a list. */
export interface ListedPurchase extends EntitledPurchase {
  readonly updatedAt: EpochMillis;
  readonly hasRefreshToken: boolean;
}

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getPurchasePage(
  service: Service,
  appName: string,
  request: PageRequest,
): Promise<ListPage<ListedPurchase>> {
  const { items, total } = await getItemPage(service, appName, 'purchases', request);
  return { rows: items.map(parseListedPurchase), total };
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
): Promise<ListedPurchase[]> {
  const items = await loadListedItems(
    service,
    purchaseIds.map((id) => purchaseKey(appName, id)),
  );
  return items.map(parseListedPurchase);
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
  search: RowSearch<Transaction>,
): Promise<CursorPage<Transaction>> {
  return await findListRows(service, appName, 'transactions', { search, parseItem: parseTransactionItem });
}

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getTransactionPage(
  service: Service,
  appName: string,
  request: PageRequest,
): Promise<ListPage<Transaction>> {
  const { items, total } = await getItemPage(service, appName, 'transactions', request);
  return { rows: items.map(parseTransactionItem), total };
}

/** Finds the customers that match, by the time of their creation. */
export async function findCustomers(
  service: Service,
  appName: string,
  search: RowSearch<CustomerRow>,
): Promise<CursorPage<CustomerRow>> {
  return await findListRows(service, appName, 'customers', { search, parseItem: parseCustomerItem });
}

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getCustomerPage(
  service: Service,
  appName: string,
  request: PageRequest,
): Promise<ListPage<CustomerRow>> {
  const { items, total } = await getItemPage(service, appName, 'customers', request);
  return { rows: items.map(parseCustomerItem), total };
}

function parseListedPurchase(item: Item): ListedPurchase {
  const { purchase, entitledUsers, updatedAt, refreshToken } = parsePurchaseItem(item);
  return { purchase, entitledUsers, updatedAt, hasRefreshToken: refreshToken !== undefined };
}
