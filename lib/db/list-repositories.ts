import type { CustomerListRepository } from '../customers/customer-list-repository.ts';
import { parsePurchasePartition, purchaseKey } from '../foundation/keys.ts';
import type { Item } from '../foundation/table.ts';
import type { ListedPurchase, PurchaseListRepository } from '../purchases/purchase-list-repository.ts';
import type { TransactionListRepository } from '../purchases/transaction-list-repository.ts';
import { parseCustomerItem } from './customer-repository.ts';
import type { PagedListRepository } from './paged-list-repository.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import { parseTransactionItem } from './transaction-repository.ts';

export const createPurchaseListRepository = (lists: PagedListRepository): PurchaseListRepository => ({
  async getPage(appName, request) {
    const { items, total } = await lists.getPage(appName, 'P', request);
    return { rows: items.map(parseListedPurchase), total };
  },
  async listUpdatedIds(appName, range) {
    const updatedKeys = await lists.listUpdatedPurchaseKeys(appName, range);
    return updatedKeys.map(({ pk }) => parsePurchasePartition(pk));
  },
  async findMany(appName, purchaseIds) {
    const items = await lists.loadItems(purchaseIds.map((id) => purchaseKey(appName, id)));
    return items.map(parseListedPurchase);
  },
  scanUpdatedSince: (appName, startdate) => lists.scanPurchasesUpdatedSince(appName, startdate),
});

export const createTransactionListRepository = (lists: PagedListRepository): TransactionListRepository => ({
  find: async (appName, search) => await lists.findRows(appName, 'T', { search, parseItem: parseTransactionItem }),
  async getPage(appName, request) {
    const { items, total } = await lists.getPage(appName, 'T', request);
    return { rows: items.map(parseTransactionItem), total };
  },
});

export const createCustomerListRepository = (lists: PagedListRepository): CustomerListRepository => ({
  find: async (appName, search) => await lists.findRows(appName, 'C', { search, parseItem: parseCustomerItem }),
  async getPage(appName, request) {
    const { items, total } = await lists.getPage(appName, 'C', request);
    return { rows: items.map(parseCustomerItem), total };
  },
});

function parseListedPurchase(item: Item): ListedPurchase {
  const { purchase, entitledUsers, updatedAt, refreshToken } = parsePurchaseItem(item);
  return { purchase, entitledUsers, updatedAt, hasRefreshToken: refreshToken !== undefined };
}
