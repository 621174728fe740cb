import { collectRowsThatFit } from '../api/limits.ts';
import type { Attempt } from '../foundation/failed-items.ts';
import type { DateRange, ListPage } from '../foundation/list-page.ts';
import type { Service } from '../foundation/service.ts';
import { listNotificationsByPurchase } from '../purchases/list-notifications.ts';
import { listOwnedPurchaseIds, listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { isActive } from '../purchases/purchase.ts';
import type { PurchaseRow } from '../purchases/purchase-contract.ts';
import { toPurchaseDetails } from '../purchases/to-records.ts';
import { findListedPurchases, getPurchasePage, type ListedPurchase, listUpdatedPurchaseIds } from './list-tables.ts';
import { attemptRows, toUnreadableIds } from './unreadable-rows.ts';

/** Selects the purchases: by app, by customer or by the date of the last change. */
interface PurchaseListQuery extends DateRange {
  readonly skip: number;
  readonly limit: number;
  readonly customerId?: string | undefined;
  /** Order of the purchases of a customer. Default: `oldest`. */
  readonly order?: 'oldest' | 'newest' | undefined;
  readonly isActiveOnly: boolean;
  readonly includesNotifications: boolean;
}

interface PurchasePage extends ListPage<PurchaseRow> {
  readonly skip: number;
  readonly limit: number;
  /** The purchases that the page leaves out, because they are not readable. */
  readonly unreadableIds?: string[];
}

/**
 * Lists purchases. Leaves out those that are not readable, except for a customer: access depends on that list. `skip`
 * and `limit` do not apply to a date range. A `total` above the number of its rows means that the limit of the
 * response, or of the time of its reads, was reached.
 */
export async function readPurchaseRows(
  service: Service,
  appName: string,
  query: PurchaseListQuery,
): Promise<PurchasePage> {
  const { customerId, skip, limit } = query;
  if (customerId !== undefined) return await listOwnedPurchases(service, appName, { ...query, customerId });
  if (isDated(query)) return await listUpdatedPurchases(service, appName, query);
  const { failed, attempt } = attemptRows(appName);
  const { rows, total } = await getPurchasePage(service, appName, { skip, limit, now: service.now(), attempt });
  return {
    skip,
    limit,
    total,
    rows: await toRows(service, appName, rows, { ...query, attempt }),
    ...toUnreadableIds(failed),
  };
}

const isDated = ({ startdate, enddate }: DateRange): boolean => startdate !== undefined || enddate !== undefined;

async function listUpdatedPurchases(
  service: Service,
  appName: string,
  query: PurchaseListQuery,
): Promise<PurchasePage> {
  const { startdate, enddate } = query;
  const ids = await listUpdatedPurchaseIds(service, appName, { startdate, enddate });
  const { failed, attempt } = attemptRows(appName);
  const loadRows = async (batch: readonly string[]) => {
    const purchases = await findListedPurchases(service, appName, batch, attempt);
    return await toRows(service, appName, purchases, { ...query, attempt });
  };
  const { rows, remaining } = await collectRowsThatFit(ids, loadRows);
  return { skip: 0, limit: rows.length, total: rows.length + remaining, rows, ...toUnreadableIds(failed) };
}

type OwnedPurchaseQuery = PurchaseListQuery & { readonly customerId: string };

async function listOwnedPurchases(service: Service, appName: string, query: OwnedPurchaseQuery): Promise<PurchasePage> {
  const ids = await listOwnedIds(service, appName, query);
  const { skip, limit } = isDated(query) ? { skip: 0, limit: ids.length } : query;
  const { rows, remaining } = await collectRowsThatFit(ids.slice(skip, skip + limit), async (batch) => {
    const purchases = await findListedPurchases(service, appName, batch);
    const selected = purchases.filter((purchase) => isSelected(purchase, query));
    return await toRows(service, appName, selected, query);
  });
  return isDated(query)
    ? { skip, limit: rows.length, total: rows.length + remaining, rows }
    : { skip, limit, total: ids.length, rows };
}

/** Lists the ids of a customer's purchases in the requested order. */
async function listOwnedIds(
  service: Service,
  appName: string,
  { customerId, order, isActiveOnly }: OwnedPurchaseQuery,
): Promise<readonly string[]> {
  if (!isActiveOnly) {
    const oldestFirst = await listOwnedPurchaseIds(service, appName, customerId);
    return order === 'newest' ? oldestFirst.toReversed() : oldestFirst;
  }
  const newestFirst = await listRepresentativePurchases(service, appName, customerId);
  const activeIds = newestFirst
    .filter((purchase) => isActive(purchase, service.now()))
    .map(({ purchaseId }) => purchaseId);
  return order === 'newest' ? activeIds : activeIds.toReversed();
}

const isSelected = (
  { entitledUsers, updatedAt }: ListedPurchase,
  { customerId, startdate = 0, enddate = Infinity }: OwnedPurchaseQuery,
): boolean => entitledUsers.includes(customerId) && updatedAt >= startdate && updatedAt < enddate;

async function toRows(
  service: Service,
  appName: string,
  listed: readonly ListedPurchase[],
  { includesNotifications, attempt }: Pick<PurchaseListQuery, 'includesNotifications'> & { attempt?: Attempt },
): Promise<PurchaseRow[]> {
  const ids = includesNotifications ? listed.map(({ purchase }) => purchase.purchaseId) : [];
  const found = await listNotificationsByPurchase(service, appName, ids, attempt);
  return listed.flatMap(({ purchase, entitledUsers, hasRefreshToken }) => {
    const notifications = found.get(purchase.purchaseId);
    if (includesNotifications && !notifications) return [];
    const options = { now: service.now(), ...(notifications && { notifications }) };
    return { ...toPurchaseDetails(purchase, entitledUsers, options), raw: null, canRefresh: hasRefreshToken };
  });
}
